import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Sets the headers of helmet. They are the same for every response, so that its 13 middlewares run only once. */
export function createSecurityHeaders(): RequestHandler {
  const headers = headersOfHelmet();
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

function headersOfHelmet(): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  class Collecting extends ServerResponse {
    override setHeader(name: string, value: number | string | readonly string[]): this {
      headers.set(name, String(value));
      return this;
    }
  }
  const request = new IncomingMessage(new Socket());
  helmet()(request, new Collecting(request), (error?: unknown) => {
    if (error !== undefined) throw new Error('helmet failed', { cause: error });
  });
  return headers;
}

type Directives = Readonly<Record<string, readonly string[]>>;

/**
 * Makes the Content-Security-Policy of pages whose scripts are files of ours and whose styles are partly inline. Whatever
 * no directive allows is forbidden; `more` adds directives or replaces these.
 */
export function pagePolicy(more: Directives) {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      frameAncestors: ["'none'"],
      ...more,
    },
  });
}
