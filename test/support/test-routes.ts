import { z } from 'zod';
import {
  jsonInteger,
  nonBlankString,
  optionalNull,
  queryInteger,
} from '../../src/api/http/validation/field-schemas.js';
import { HttpError } from '../../src/api/http/http-error.js';
import { errorBody } from '../../src/api/http/response/declared-responses.js';
import { defineRoute, type Route } from '../../src/api/http/route.js';
import { UnavailableError } from '../../src/shared/errors.js';

const common = { summary: 'For tests', tag: 'Test', audit: null, permission: 'open' } as const;
const anything = z.record(z.string(), z.unknown());

const failures: Record<string, () => Error> = {
  bug: () => new Error('password is hunter2 in /etc/passwd'),
  refused: () => new HttpError(409, 'Not now', { headers: { 'Retry-After': '7' } }),
  away: () => new UnavailableError('index', { retryAfterSeconds: 3.2 }),
};

/** Routes that show what reached them, and one that fails as it is asked to. */
export function createTestRoutes(): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'get',
      path: '/things/{id}',
      request: {
        path: z.object({ id: z.string() }),
        query: z.object({ limit: queryInteger({ le: 100 }).optional() }),
      },
      responses: { 200: anything },
      handle: ({ path, query, baseUrl, prefer, requestId }, reply) =>
        Promise.resolve(reply.json(200, { ...path, ...query, baseUrl, prefer, requestId })),
    }),
    defineRoute({
      ...common,
      method: 'post',
      path: '/things/{id}',
      request: {
        path: z.object({ id: z.string().regex(/^\w+$/) }),
        query: z.object({ limit: queryInteger({ le: 100 }).optional() }),
        body: z.object({ name: z.string(), count: optionalNull(jsonInteger({ ge: 0 })) }),
      },
      responses: { 200: anything },
      handle: ({ body }, reply) => Promise.resolve(reply.json(200, { ...body })),
    }),
    defineRoute({
      ...common,
      method: 'post',
      path: '/things/create',
      emptyBody: 'object',
      request: {
        body: z.object({ name: nonBlankString(), count: optionalNull(jsonInteger({ le: 5 })) }),
        fromQuery: z.object({ name: z.string().optional(), count: queryInteger().optional() }),
      },
      responses: { 200: anything },
      handle: ({ body }, reply) => Promise.resolve(reply.json(200, { ...body })),
    }),
    defineRoute({
      ...common,
      method: 'post',
      path: '/bare',
      request: {},
      responses: { 200: anything },
      handle: (_request, reply) => Promise.resolve(reply.json(200, {})),
    }),
    defineRoute({
      ...common,
      method: 'get',
      path: '/fail/{how}',
      request: { path: z.object({ how: z.string() }) },
      responses: { 409: errorBody },
      handle: ({ path: { how } }) => Promise.reject(failures[how]?.() ?? new Error('no such failure')),
    }),
  ];
}
