import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from '../shared/observability/logger.js';
import { loadOnce } from '../shared/tools/coalesce-runs.js';
import type { TrustedProxies } from '../shared/settings/trusted-proxies.js';
import type { Authenticate } from './auth/authentication.js';
import type { RateLimit } from './auth/rate-limit.js';
import type { Messages } from './http/connections/messages.js';
import { createAuditTrail, type AuditOptions } from './http/audit/audit-trail.js';
import { createAccessLog } from './http/logging/access-log.js';
import { createCors } from './http/cors.js';
import { handleError } from './http/error-handler.js';
import { handleRoute } from './http/handle-route.js';
import { createHostGuard } from './http/host-guard.js';
import { HttpError } from './http/http-error.js';
import { createSecurityHeaders } from './http/security-headers.js';
import { createJsonReader } from './http/json/reader.js';
import { lazyHandler } from './http/lazy-handler.js';
import { expressPath, refuseMethod } from './http/refuse-method.js';
import type { BodyBudget } from './http/request/body-budget.js';
import type { Route } from './http/route.js';
import type { UnknownFields } from './http/unknown-fields/ignored-fields.js';
import type { AnswerMemory } from './services/answer-memory/answer-memory.js';
import type { Idempotency } from './services/idempotency/idempotency.js';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly authenticate: Authenticate;
  readonly logger: Logger;
  readonly devMode: boolean;
  readonly allowRemoteDevMode: boolean;
  /** Further host names that requests may use in dev mode. */
  readonly hostNames: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Proxies whose X-Forwarded-* headers are trusted: their number, or their networks. */
  readonly trustProxy: TrustedProxies;
  /** Public address of the service; empty when it is taken from each request. */
  readonly publicUrl: string;
  readonly maxJsonBytes: number;
  readonly unknownFields: UnknownFields;
  readonly answerMemory: AnswerMemory;
  readonly bodies: BodyBudget;
  readonly bodyGraceSeconds: number;
  readonly rateLimit?: RateLimit | null;
  /** Null where there is no audit log. */
  readonly audit?: AuditOptions | null;
  readonly idempotency?: Idempotency | null;
  /** Runs first for every request, to begin its trace; null where no traces are made. */
  readonly trace?: RequestHandler | null;
  /** Runs then for every request, to measure its duration. */
  readonly measure?: RequestHandler;
  /** Pages and metrics, which are no JSON routes, by the path under which they are mounted. */
  readonly pages?: readonly { readonly path: string; readonly handler: RequestHandler }[];
  /** The requests and responses of the server, if the application is to be the one that they are made for. */
  readonly messages?: Pick<Messages, 'serve'>;
}

/** Makes the Express application: the middleware for every request, the routes, the pages, and the handlers of the rest. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  options.messages?.serve(app);
  app.set('query parser', false).set('trust proxy', options.trustProxy);
  useGuards(app, options);
  addRoutes(app, options);
  for (const { path, handler } of options.pages ?? []) app.use(path, handler);
  addDocs(app, options.routes);
  app.use(refuseMethod(options.routes));
  app.use(() => {
    throw new HttpError(404, 'Not Found');
  });
  app.use(handleError);
  return app;
}

/** Adds the middleware that every request passes first. */
function useGuards(app: Express, options: AppOptions): void {
  const { devMode, allowRemoteDevMode, hostNames: names, corsOrigins: origins } = options;
  if (options.trace) app.use(options.trace);
  if (options.measure) app.use(options.measure);
  app.use(createAccessLog(options.logger));
  if (options.audit) app.use(createAuditTrail(options.audit));
  app.use(createSecurityHeaders());
  app.use(createHostGuard({ devMode, allowRemoteDevMode, names }));
  app.use(createCors({ origins, devMode }));
}

function addRoutes(app: Express, options: AppOptions): void {
  const { routes, authenticate, maxJsonBytes, publicUrl, answerMemory, bodies, bodyGraceSeconds } = options;
  const { unknownFields } = options;
  const routeOptions = {
    authenticate,
    rateLimit: options.rateLimit ?? null,
    idempotency: options.idempotency ?? null,
    maxJsonBytes,
    unknownFields,
    publicUrl,
    answerMemory,
    bodies,
    bodyGraceSeconds,
    readJson: createJsonReader(),
  };
  for (const route of [...routes].sort(byParameters)) {
    app[route.method](expressPath(route.path), handleRoute(route, routeOptions));
  }
}

function addDocs(app: Express, routes: readonly Route[]): void {
  const docs = loadOnce(async () => (await import('./pages/docs.js')).createDocs(routes));
  const document = lazyHandler(async () => (await docs()).document);
  const page = lazyHandler(async () => (await docs()).page);
  app.get('/openapi.json', document);
  app.use('/docs', page);
  app.get('/', (_request, response) => {
    // The address is relative, so that it also works behind a proxy that adds a prefix.
    response.redirect(302, 'docs');
  });
}

/** Sorts paths with fewer parameters first, so that no parameter matches a fixed word of another path. */
function byParameters(a: Route, b: Route): number {
  return a.path.split('{').length - b.path.split('{').length;
}
