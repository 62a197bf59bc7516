import { z } from 'zod';
import type { ApiReply } from '../../src/api/http/response/reply.js';
import { defineRoute, type Route } from '../../src/api/http/route.js';

const common = { summary: 'For tests', tag: 'Test', audit: null, permission: 'open' } as const;

/** Answers with what it is sent, at `/echo`. */
export function echo(permission: 'open' | 'write' = 'open'): Route {
  return defineRoute({
    ...common,
    permission,
    method: 'post',
    path: '/echo',
    request: { body: z.object({ name: z.string() }) },
    responses: { 200: z.object({ name: z.string() }) },
    handle: ({ body }, reply) => Promise.resolve(reply.json(200, body)),
  });
}

/** Answers with what `handle` makes, in any of the kinds of reply. */
export function get(path: string, handle: (signal: AbortSignal) => ApiReply | Promise<ApiReply>): Route {
  return {
    ...common,
    method: 'get',
    path,
    request: {},
    responses: { 200: z.array(z.unknown()) },
    handle: async ({ signal }) => handle(signal),
  };
}
