import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { at } from '../../../shared/at.js';
import type { RequestAction } from '../../../shared/audit/entry.js';
import { withoutRedaction, type Logger } from '../../../shared/observability/logger.js';
import { traceIds } from '../../../shared/tracing/tracing.js';
import type { Caller } from '../../auth/authentication.js';
import { auditAction, auditCaller } from '../audit/audit-trail.js';

/**
 * Gives each request an id, which the response carries as well, and a logger. Logs one line when the request is over,
 * without its query string. pino-http is not used: it creates two loggers for each request, which would cost more than
 * everything else that runs before the route.
 */
export function createAccessLog(logger: Logger): RequestHandler {
  const lines = withoutRedaction(logger);
  return (request, response, next) => {
    const startedAtMs = Date.now();
    const requestId = requestIdOf(request.headers['x-request-id']);
    // The end of a request is told outside of its trace.
    const trace = traceIds();
    response.setHeader('X-Request-Id', requestId);
    giveRequestLogger(request, { logger, requestId });
    // This event also comes when the client did not wait for its response.
    response.once('close', () => {
      const level = levelOf(request, response);
      if (!lines.isLevelEnabled(level)) return;
      const durationMs = Date.now() - startedAtMs;
      const facts = { requestId, ...describe(request, response), durationMs, ...trace };
      lines[level](facts, 'request completed');
    });
    next();
  };
}

function levelOf(request: IncomingMessage, response: ServerResponse): 'debug' | 'info' | 'warn' {
  // For a probe, 503 is a regular answer.
  if (isQuiet(request)) return 'debug';
  return response.statusCode >= 500 ? 'warn' : 'info';
}

const describe = (request: IncomingMessage, response: ServerResponse) => ({
  method: request.method,
  path: pathOf(originalUrl(request)),
  ...requestFacts(request),
  status: response.statusCode,
});

/** Returns the client's `X-Request-Id` if it is safe in a header and in a log line, else a new id. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:+/=@-]{1,128}$/.test(header) ? header : randomUUID();
}

interface Source {
  readonly logger: Logger;
  readonly requestId: string;
}

const sources = new WeakMap<IncomingMessage, Source>();

function giveRequestLogger(request: IncomingMessage, source: Source): void {
  sources.set(request, source);
}

/** Returns a logger that adds the request's id. It is created on demand, because most requests need only the access log. */
export function requestLogger(request: IncomingMessage): Logger {
  const source = sources.get(request);
  if (!source) throw new Error('the request did not pass the access log');
  return source.logger.child({ requestId: source.requestId });
}

/** The maximum number of characters of a path that are logged. */
const MAX_PATH_LENGTH = 300;
const QUIET_PATHS = ['/health', '/health/ready', '/health/serving', '/metrics'];

/** Tells whether this is a probe, a scrape, or a request that an open queue board sends every few seconds. */
export function isQuiet(request: IncomingMessage): boolean {
  const path = pathOf(originalUrl(request));
  return QUIET_PATHS.includes(path) || (request.method === 'GET' && path.startsWith('/admin/queues/'));
}

/** Returns the full URL; in a mounted handler, `url` holds only the rest of it. */
function originalUrl(request: IncomingMessage): string {
  return 'originalUrl' in request ? String(request.originalUrl) : (request.url ?? '');
}

function pathOf(url: string): string {
  return at(url.split('?'), 0).slice(0, MAX_PATH_LENGTH);
}

/** The facts that logs and metrics state about a request in addition to its status. */
interface RequestFacts {
  /** Pattern of the route, such as `/documents/{document_id}`; null when no route matched. */
  readonly route: string | null;
  readonly callerId: string | null;
}

const NOTHING: RequestFacts = { route: null, callerId: null };
const facts = new WeakMap<IncomingMessage, RequestFacts>();

export const requestFacts = (request: IncomingMessage): RequestFacts => facts.get(request) ?? NOTHING;

/**
 * Notes the route of a request, and the name of its use in the audit log, null where nothing of anybody is read or changed.
 * The last call counts.
 * @throws UnavailableError where the audit log is required and cannot be written
 */
export function noteRoute(request: IncomingMessage, route: string, action: RequestAction | null): void {
  facts.set(request, { ...requestFacts(request), route });
  auditAction(request, action);
}

/** Notes who sends a request, once that is known. */
export function noteCaller(request: IncomingMessage, caller: Pick<Caller, 'id' | 'tokenId'> | null): void {
  facts.set(request, { ...requestFacts(request), callerId: caller?.id ?? null });
  auditCaller(request, caller);
}
