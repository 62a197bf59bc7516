import type { Route } from '../../http/route.js';
import type { Services } from '../../services.js';
import { chatRoute } from './chat.js';
import { embeddingsRoute } from './embeddings.js';
import { modelRoutes } from './models.js';
import { responsesRoute } from './responses.js';

/** Everything below `/v1`, as clients of OpenAI ask for it. */
export const createOpenAIRoutes = (services: Services): Route[] => [
  ...modelRoutes(services),
  chatRoute(services),
  responsesRoute(services),
  embeddingsRoute(services.embeddings),
];
