import type { RequestListener } from 'node:http';
import express, { type Express, type RequestHandler } from 'express';
import { UnavailableError } from '../shared/errors.js';
import type { Logger } from '../shared/observability/logger.js';
import type { Settings } from '../shared/settings/schema.js';
import { parseTrustedProxies, type TrustedProxies } from '../shared/settings/addresses.js';
import { loadOnce } from '../shared/tools/coalesce-runs.js';
import { isTracing } from '../shared/tracing/tracing.js';
import { createAuthentication, type Authenticate } from './auth/authentication.js';
import type { RateLimit } from './auth/rate-limit.js';
import { createAuditTrail, type AuditOptions } from './http/audit/audit-trail.js';
import type { Messages } from './http/connections/server.js';
import { createCors, createHostGuard } from './http/origins.js';
import { handleError } from './http/error-handler.js';
import { handleRoute } from './http/handle-route.js';
import { HttpError } from './http/http-error.js';
import { createJsonReader } from './http/json/json.js';
import { lazyHandler } from './http/lazy-handler.js';
import { createAccessLog } from './http/logging/access-log.js';
import { traceRequests } from './http/logging/trace-requests.js';
import { createBodyBudget, type BodyBudget, type BodyBudgetOptions } from './http/request/body-budget.js';
import type { Route } from './http/route.js';
import { createSecurityHeaders } from './http/security-headers.js';
import type { UnknownFields } from './http/unknown-fields.js';
import type { LifecyclePhase } from './lifecycle.js';
import type { Secrets } from './services.js';
import { createHealthRoutes } from './routes/health.js';
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
    throw new HttpError(404, 'Not Found; /docs lists the paths of this service');
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
  const docs = loadOnce(async () => (await import('./pages/openapi.js')).createDocs(routes));
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

/** Makes the options that the application needs in all phases from the settings. */
export function appOptionsOf(
  { devMode, allowRemoteDevMode, api, traces }: Settings,
  secrets: Secrets,
  logger: Logger,
): Omit<AppOptions, 'routes' | 'answerMemory'> {
  const { corsOrigins, publicUrl, maxJsonBytes, unknownFields } = api;
  const trustProxy = parseTrustedProxies(api.trustProxy);
  if (trustProxy === null) throw new Error('api.trust_proxy was not validated');
  const publicNames = publicUrl === '' ? [] : [new URL(publicUrl).hostname];
  return {
    authenticate: createAuthentication({ secrets, devMode }),
    logger,
    trace: isTracing() ? traceRequests({ isContinued: traces.parent === 'continue' }) : null,
    devMode,
    allowRemoteDevMode,
    corsOrigins,
    trustProxy,
    publicUrl,
    maxJsonBytes,
    unknownFields,
    bodies: createBodyBudget(bodyBudgetOf(api)),
    bodyGraceSeconds: api.slowBodySeconds,
    hostNames: [api.host, ...publicNames],
  };
}

/** Gives each caller a quarter of the budget, or enough for one body of the largest size. */
function bodyBudgetOf({ bodyMemoryMegabytes, maxJsonBytes }: Settings['api']): BodyBudgetOptions {
  const maxBytes = bodyMemoryMegabytes * 1024 ** 2;
  return { maxBytes, shareBytes: Math.max(maxBytes / 4, maxJsonBytes + 1024 ** 2) };
}

/** Converts `/documents/{document_id}` to the form that Express takes. */
function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Refuses requests for a known path with a method that the path does not have, and answers OPTIONS. */
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

/** The application while the process starts: it answers liveness probes, and refuses everything else with 503. */
export function createStartingApp(
  options: Omit<AppOptions, 'routes'>,
  phase: () => LifecyclePhase,
): RequestListener {
  const readiness = () =>
    Promise.resolve({ ready: false, components: { redis: 'unavailable' as const }, disks: {} });
  const refuse = () => {
    throw new UnavailableError('redis');
  };
  const routes = createHealthRoutes({ readiness, phase });
  return createApp({ ...options, routes, pages: [{ path: '/', handler: refuse }] });
}
