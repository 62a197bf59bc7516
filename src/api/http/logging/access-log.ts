import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { withoutRedaction, type Logger } from '../../../shared/observability/logger.js';
import { traceIds } from '../../../shared/tracing/tracing.js';
import { isQuiet, originalUrl, pathOf } from './quiet-requests.js';
import { requestFacts } from './request-facts.js';
import { requestIdOf } from './request-id.js';
import { giveRequestLogger } from './request-logger.js';

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
