import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { beginTrace, type Span } from '../../../shared/tracing/tracing.js';
import { isQuiet, requestFacts } from './access-log.js';

/**
 * Begins a trace for each request but probes and scrapes, by the conventions of OpenTelemetry for HTTP servers. Paths, queries
 * and addresses are left out, since they have names in them; the route says enough.
 * @param options.isContinued whether the trace of the caller is continued; otherwise a trace of its own refers to it, so that
 * no caller decides which requests are kept
 */
export function traceRequests({ isContinued }: { readonly isContinued: boolean }): RequestHandler {
  return (request, response, next) => {
    if (isQuiet(request)) {
      next();
      return;
    }
    const { traceparent, tracestate } = request.headers;
    const from =
      typeof traceparent === 'string'
        ? {
            traceparent,
            isContinued,
            tracestate: typeof tracestate === 'string' ? tracestate : undefined,
          }
        : null;
    const attributes = { 'http.request.method': request.method };
    const span = beginTrace(request.method, { kind: 'server', attributes, from });
    response.once('close', () => {
      end(span, request, response);
    });
    span.within(next);
  };
}

function end(span: Span, request: IncomingMessage, response: ServerResponse): void {
  const { route } = requestFacts(request);
  const requestId = response.getHeader('X-Request-Id');
  span.set({
    'http.route': route ?? undefined,
    'http.response.status_code': response.headersSent ? response.statusCode : undefined,
    'quire.request_id': typeof requestId === 'string' ? requestId : undefined,
  });
  if (route !== null) span.rename(`${request.method ?? ''} ${route}`);
  if (!response.writableFinished) span.set({ 'error.type': 'client_left' });
  // An error of the client is no failure of the server.
  if (response.statusCode >= 500) span.fail(String(response.statusCode));
  span.end();
}
