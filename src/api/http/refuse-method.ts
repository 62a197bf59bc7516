import express from 'express';
import { HttpError } from './http-error.js';
import type { Route } from './route.js';

/** Converts `/documents/{document_id}` to the form that Express takes. */
export function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Refuses requests for a known path with a method that the path does not have, and answers OPTIONS. */
export function refuseMethod(routes: readonly Route[]): express.Router {
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
