import { z } from 'zod';
import { openAIError } from '../../http/response/error-shapes.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { CacheService } from '../../services/caches/caches.js';
import type { Embeddings } from '../../services/models/embeddings.js';
import { modelExamples, modelsExamples } from './examples.js';
import { ALL_MODEL, cacheModel, unknownModel } from './model-names.js';

const modelView = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .meta({ id: 'Model', description: 'A model that clients of OpenAI can ask for.' });
const modelList = z
  .object({ object: z.literal('list'), data: z.array(modelView) })
  .meta({ id: 'ModelList', description: 'All models that the caller can ask for.' });

/** The most caches that are listed as models. */
const MAX_CACHES = 1_000;

interface ModelParts {
  readonly caches: Pick<CacheService, 'list'>;
  readonly embeddings: Pick<Embeddings, 'model'>;
}

const common = { method: 'get', tag: 'OpenAI', permission: 'read' } as const;

export const modelRoutes = (parts: ModelParts): Route[] => [
  defineRoute({
    ...common,
    path: '/v1/models',
    audit: 'cache.list',
    summary: 'List what can be asked',
    description:
      '`quire` answers from all documents that the caller may read, `quire/cache/<name>` from a named cache, and the last one ' +
      `makes vectors. The first ${MAX_CACHES.toLocaleString('en')} caches are listed.`,
    request: {},
    responses: { 200: modelList },
    examples: modelsExamples,
    handle: async ({ caller }, reply) => {
      const names = await modelsOf(parts, caller.id);
      return reply.json(200, { object: 'list', data: names.map(viewModel) });
    },
  }),
  defineRoute({
    ...common,
    path: '/v1/models/{model}',
    audit: 'cache.read',
    summary: 'Get one of the models',
    description: 'A name with slashes is encoded, as in `quire%2Fcache%2Fbooks`.',
    request: { path: z.object({ model: z.string().describe('The name of the model.') }) },
    responses: { 200: modelView, 404: openAIError },
    examples: modelExamples,
    handle: async ({ caller, path: { model } }, reply) => {
      const names = await modelsOf(parts, caller.id);
      if (!names.includes(model)) throw unknownModel(model, 'it is none of yours');
      return reply.json(200, viewModel(model));
    },
  }),
];

async function modelsOf({ caches, embeddings }: ModelParts, callerId: string): Promise<string[]> {
  const names: string[] = [ALL_MODEL];
  for await (const { name } of caches.list(callerId)) {
    names.push(cacheModel(name));
    if (names.length > MAX_CACHES) break;
  }
  return [...names, embeddings.model];
}

/** Models are as old as the service; their age means nothing. */
const CREATED = 0;

const viewModel = (id: string): z.infer<typeof modelView> => ({
  id,
  object: 'model',
  created: CREATED,
  owned_by: 'quire',
});
