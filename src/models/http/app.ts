import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from '../../shared/observability/logger.js';
import { beginSpanFor, type Span } from '../../shared/tracing/tracing.js';
import { isLoopbackHost } from '../../shared/settings/addresses.js';
import { KEEP_ALIVE_MILLISECONDS } from '../../shared/tools/keep-alive.js';
import { chatCompletions, listStates, removeState, writeState } from '../routes/chat.js';
import type { Handler, RouteParts } from '../routes/route.js';
import { embeddings, rerank } from '../routes/texts.js';
import { replyError } from './errors.js';

/** 2,048 texts of the largest chunks, or a prompt of a million tokens. */
const MAX_BODY = '64mb';

interface AppOptions extends RouteParts {
  /** The bearer token that every client must send; null for no such check. */
  readonly token: string | null;
  /** Names and addresses at which other processes find this one. */
  readonly hosts: readonly string[];
  readonly logger: Logger;
}

export function createModelsApp({ token, hosts, logger, ...parts }: AppOptions): Express {
  const app = express().disable('x-powered-by').disable('etag');
  const handle = (handler: (parts: RouteParts) => Handler) => {
    const run = handler(parts);
    return (request: Request, response: Response) => {
      const span = beginRequestSpan(request, response);
      span
        .within(() => run(request, response))
        .catch((error: unknown) => {
          span.fail(error);
          if (!response.destroyed) replyError(response, error, logger);
        });
    };
  };
  app.get('/health', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.use(token === null ? refuseForeignHosts(hosts) : requireToken(token));
  app.get('/metrics', (_request, response, next) => {
    parts.metrics.render().then(({ type, text }) => response.type(type).send(text), next);
  });
  // Bodies of other types are not read: a web page may send such bodies to a loopback port without asking.
  app.use(express.json({ limit: MAX_BODY, strict: true }));
  app.get('/v1/models', handle(listModels));
  app.get('/v1/models/:model', handle(describeModel));
  app.post('/v1/embeddings', handle(embeddings));
  app.post('/v1/chat/completions', handle(chatCompletions));
  app.post(['/v1/rerank', '/rerank'], handle(rerank));
  app.get('/v1/states', handle(listStates));
  app.put('/v1/states/:state', handle(writeState));
  app.delete('/v1/states/:state', handle(removeState));
  app.use((_request, response) => {
    response.status(404).json(errorOf('no such address', 'not_found'));
  });
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    replyError(response, error, logger);
  };
  return app.use(onError);
}

const listModels =
  ({ catalog }: RouteParts): Handler =>
  async (_request, response) => {
    response.json({ object: 'list', data: await catalog.list() });
  };

const describeModel =
  ({ catalog }: RouteParts): Handler =>
  async (request, response) => {
    response.json(await catalog.describe(String(request.params['model'])));
  };

/** Begins the part of a trace that this process has in it. A request that names no trace has none. */
function beginRequestSpan(request: Request, response: Response): Span {
  // Names in paths, such as those of models and states, are left out.
  const [route = ''] = request.path
    .toLowerCase()
    .replace(/^\/(?:v1\/)?/, '')
    .split('/');
  const name = `${request.method} /v1/${route}`;
  const attributes = { 'http.request.method': request.method };
  const traceparent = request.get('traceparent') ?? null;
  const span = beginSpanFor(traceparent, name, { kind: 'server', attributes });
  response.once('close', () => {
    span.set({ 'http.response.status_code': response.headersSent ? response.statusCode : undefined });
    span.end();
  });
  return span;
}

function requireToken(token: string): RequestHandler {
  return (request, response, next) => {
    if (isToken(request.get('authorization'), token)) next();
    else response.status(401).set('x-should-retry', 'false').json(errorOf('wrong token', 'invalid_api_key'));
  };
}

const errorOf = (message: string, code: string) => ({
  error: { message, type: 'invalid_request_error', code },
});

/** Compares digests, which takes as long for every token. */
function isToken(header: string | undefined, token: string): boolean {
  if (header === undefined) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header), digest(`Bearer ${token}`));
}

/**
 * Refuses requests whose `Host` is not ours. In a DNS rebinding attack, the name of a foreign page points to this machine,
 * and the header holds that name: without a token, the page would read and remove the states here.
 */
function refuseForeignHosts(own: readonly string[]): RequestHandler {
  return (request, response, next) => {
    const given = request.headersDistinct['host'] ?? [];
    // No browser sends a request without the header.
    const isOwn = given.every((host) => {
      const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
      return isLoopbackHost(name) || own.includes(name);
    });
    if (isOwn) next();
    else
      response.status(403).json({
        error: {
          message: 'without models.token, only addresses of this machine and models.urls are answered',
          type: 'invalid_request_error',
          code: 'wrong_host',
        },
      });
  };
}

/** Creates the HTTP server. A batch of texts may take minutes on a slow processor; clients have time limits of their own. */
export const createModelsServer = (listener: RequestListener): Server =>
  createServer({ requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, listener);
