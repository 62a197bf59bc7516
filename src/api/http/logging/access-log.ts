import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Logger } from '../../../shared/observability/logger.js';
import { requestFacts } from './request-facts.js';
import { requestIdOf } from './request-id.js';
import { giveLog } from './request-log.js';

const QUIET_PATHS = ['/health', '/health/ready', '/health/serving', '/metrics'];

/**
 * Gives each request its id (also on the response) and a logger, and logs a line when it is over: no query strings. By
 * hand: pino-http makes two loggers for each request, which costs more than anything else before its route.
 */
export function createAccessLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const startedAtMs = Date.now();
    const requestId = requestIdOf(request.headers['x-request-id']);
    response.setHeader('X-Request-Id', requestId);
    giveLog(request, { logger, requestId });
    // Also after one that the client did not wait for.
    response.once('close', () => {
      const level = levelOf(request, response);
      if (!logger.isLevelEnabled(level)) return;
      const facts = { requestId, ...describe(request, response), durationMs: Date.now() - startedAtMs };
      logger[level](facts, 'request completed');
    });
    next();
  };
}

function levelOf(request: IncomingMessage, response: ServerResponse): 'debug' | 'info' | 'warn' {
  // A probe that is told to wait has been told what it asked.
  if (isQuiet(request)) return 'debug';
  return response.statusCode >= 500 ? 'warn' : 'info';
}

const describe = (request: IncomingMessage, response: ServerResponse) => ({
  method: request.method,
  path: pathOf(originalUrl(request)),
  ...requestFacts(request),
  status: response.statusCode,
});

/** Probes, scrapes, and what an open queue board asks for every few seconds. */
function isQuiet(request: IncomingMessage): boolean {
  const path = pathOf(originalUrl(request));
  return QUIET_PATHS.includes(path) || (request.method === 'GET' && path.startsWith('/admin/queues/'));
}

/** Mounted handlers see the rest of the path only. */
function originalUrl(request: IncomingMessage): string | undefined {
  return 'originalUrl' in request ? String(request.originalUrl) : request.url;
}

function pathOf(url: string | undefined): string {
  return (url ?? '').split('?')[0]?.slice(0, 300) ?? '';
}
