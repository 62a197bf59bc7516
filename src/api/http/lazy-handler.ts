import type { RequestHandler } from 'express';

/** A handler whose code is loaded by its first request, because it takes time and memory and is seldom needed. */
export function lazyHandler(load: () => Promise<RequestHandler>): RequestHandler {
  return async (request, response, next) => {
    const handle = await load();
    await handle(request, response, next);
  };
}
