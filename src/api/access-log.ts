import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { pinoHttp } from 'pino-http';
import type { Logger } from '../shared/logger.js';
import { requestFacts } from './request-facts.js';
import { requestIdOf } from './request-id.js';

const QUIET_PATHS = ['/health', '/health/ready', '/metrics'];

/** Gives each request its id (also on the response) and a logger, and logs a line when it is over: no query strings. */
export function createAccessLog(logger: Logger): RequestHandler {
  return pinoHttp({
    logger,
    genReqId: (request, response) => {
      const id = requestIdOf(request.headers['x-request-id']);
      response.setHeader('X-Request-Id', id);
      return id;
    },
    customAttributeKeys: { reqId: 'requestId' },
    quietReqLogger: true,
    quietResLogger: true,
    // Without these, whole requests and errors with their commands would be logged.
    wrapSerializers: false,
    serializers: { req: () => undefined },
    customLogLevel: (request, response) => {
      // A probe that is told to wait has been told what it asked.
      if (isQuiet(request)) return 'debug';
      return response.statusCode >= 500 ? 'warn' : 'info';
    },
    customSuccessObject: describe,
    customErrorObject: (request, response, _error, value: Timing) => describe(request, response, value),
    customErrorMessage: () => 'request completed',
  });
}

interface Timing {
  readonly responseTime?: number;
}

const describe = (request: IncomingMessage, response: ServerResponse, { responseTime }: Timing) => ({
  method: request.method,
  path: pathOf(originalUrl(request)),
  ...requestFacts(request),
  status: response.statusCode,
  durationMs: responseTime,
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
