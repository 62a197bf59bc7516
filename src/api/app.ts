import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Logger } from '../shared/observability/logger.js';
import type { TrustedProxies } from '../shared/settings/trusted-proxies.js';
import type { Authenticate } from './auth/auth.js';
import type { RateLimit } from './auth/rate-limit.js';
import { createAccessLog } from './http/logging/access-log.js';
import { createCors } from './http/cors.js';
import { handleError } from './http/error-handler.js';
import { handleRoute } from './http/handle-route.js';
import { createHostGuard } from './http/host-guard.js';
import { HttpError } from './http/http-error.js';
import { createJsonReader } from './http/json/reader.js';
import { sendText } from './http/response/send-json.js';
import type { BodyBudget } from './http/request/body-budget.js';
import type { Route } from './http/route.js';
import { createDocsPage } from './pages/docs-page.js';
import { createOpenApi } from './pages/openapi.js';
import type { AnswerMemory } from './services/retrieval/answer-memory.js';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly authenticate: Authenticate;
  readonly logger: Logger;
  readonly devMode: boolean;
  readonly allowRemoteDevMode: boolean;
  /** Further names that this service may be asked by in dev mode. */
  readonly hostNames: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Proxies whose X-Forwarded-* headers are believed: how many, or their networks. */
  readonly trustProxy: TrustedProxies;
  /** Empty: as requested. */
  readonly publicUrl: string;
  readonly maxJsonBytes: number;
  readonly answerMemory: AnswerMemory;
  readonly bodies: BodyBudget;
  readonly bodyGraceSeconds: number;
  readonly rateLimit?: RateLimit | null;
  /** Sees every request first, to time it. */
  readonly measure?: RequestHandler;
  /** What is no JSON route: pages and metrics, by the path they live under. */
  readonly pages?: readonly { readonly path: string; readonly handler: RequestHandler }[];
}

export function createApp(options: AppOptions): Express {
  const { routes, logger, devMode, maxJsonBytes, publicUrl, authenticate, answerMemory } = options;
  const { bodies, bodyGraceSeconds } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.set('query parser', false).set('trust proxy', options.trustProxy);

  if (options.measure) app.use(options.measure);
  app.use(createAccessLog(logger));
  app.use(helmet());
  app.use(
    createHostGuard({ devMode, allowRemoteDevMode: options.allowRemoteDevMode, names: options.hostNames }),
  );
  app.use(createCors({ origins: options.corsOrigins, devMode }));
  const rateLimit = options.rateLimit ?? null;
  const readJson = createJsonReader();
  for (const route of [...routes].sort(byParameters)) {
    app[route.method](
      expressPath(route.path),
      handleRoute(route, {
        authenticate,
        rateLimit,
        maxJsonBytes,
        publicUrl,
        answerMemory,
        bodies,
        bodyGraceSeconds,
        readJson,
      }),
    );
  }
  for (const { path, handler } of options.pages ?? []) app.use(path, handler);
  const openApi = createOpenApi(routes);
  // The same bytes for everybody, however many clients do not take them.
  const openApiBytes = Buffer.from(JSON.stringify(openApi));
  app.get('/openapi.json', (_request, response) => {
    sendText(response, 200, openApiBytes);
  });
  app.use('/docs', createDocsPage(openApi));
  app.get('/', (_request, response) => {
    // Relative, so that it holds behind a proxy that adds a prefix, too.
    response.redirect(302, 'docs');
  });
  app.use(refuseMethod(routes));
  app.use(() => {
    throw new HttpError(404, 'Not Found');
  });
  app.use(handleError);
  return app;
}

/** A path of fixed words goes before one that a parameter would catch it with. */
function byParameters(a: Route, b: Route): number {
  return a.path.split('{').length - b.path.split('{').length;
}

/** `/documents/{document_id}` as express writes it. */
function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Answers requests for a path that we have, by a method that it does not take. */
function refuseMethod(routes: readonly Route[]): express.Router {
  const router = express.Router({ caseSensitive: true });
  const taken = new Map<string, Set<string>>([
    ['/', new Set(['GET', 'HEAD'])],
    ['/openapi.json', new Set(['GET', 'HEAD'])],
  ]);
  for (const { path, method } of routes) {
    const methods = taken.get(expressPath(path)) ?? new Set();
    taken.set(expressPath(path), methods.add(method.toUpperCase()));
    if (method === 'get') methods.add('HEAD');
  }
  const allowed = new WeakMap<express.Request, Set<string>>();
  for (const [path, methods] of taken) {
    router.all(path, (request, _response, next) => {
      allowed.set(request, new Set([...(allowed.get(request) ?? []), ...methods]));
      next();
    });
  }
  router.use((request, response, next) => {
    const methods = allowed.get(request);
    if (!methods) {
      next();
      return;
    }
    const allow = [...methods, 'OPTIONS'].join(', ');
    if (request.method !== 'OPTIONS')
      throw new HttpError(405, 'Method Not Allowed', { headers: { Allow: allow } });
    response.set('Allow', allow).status(204).end();
  });
  return router;
}
