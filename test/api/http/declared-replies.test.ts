import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { errorBody } from '../../../src/api/http/response/declared-responses.js';
import { defineRoute } from '../../../src/api/http/route.js';

const thing = z.object({ id: z.string(), size: z.int() });
const common = {
  summary: 'For tests',
  tag: 'Test',
  audit: null,
  permission: 'open',
  method: 'get',
  request: {},
} as const;
const responses = { 200: thing, 409: errorBody } as const;
const fine = { id: 'a', size: 1 };
async function* each<Item>(item: Item): AsyncGenerator<Item> {
  yield await Promise.resolve(item);
}
const bytes = { bytes: each(Buffer.from('a')), sizeBytes: 1, contentType: 'text/plain', filename: 'a' };

/** The compiler holds the expectation here: it refuses a directive that has nothing to expect. */
test('a handler that answers what its route does not declare does not compile', () => {
  const routes = [
    defineRoute({
      ...common,
      path: '/declared',
      responses,
      handle: (_, reply) => Promise.resolve(reply.json(200, fine)),
    }),
    defineRoute({
      ...common,
      path: '/status',
      responses,
      // @ts-expect-error -- 202 is not declared
      handle: (_, reply) => Promise.resolve(reply.json(202, fine)),
    }),
    defineRoute({
      ...common,
      path: '/missing',
      responses,
      // @ts-expect-error -- a field is missing
      handle: (_, reply) => Promise.resolve(reply.json(200, { id: 'a' })),
    }),
    defineRoute({
      ...common,
      path: '/misspelt',
      responses,
      // @ts-expect-error -- there is a field too many
      handle: (_, reply) => Promise.resolve(reply.json(200, { ...fine, sise: 1 })),
    }),
    defineRoute({
      ...common,
      path: '/other-body',
      responses,
      // @ts-expect-error -- that is the body of another status
      handle: (_, reply) => Promise.resolve(reply.json(409, fine)),
    }),
    defineRoute({
      ...common,
      path: '/by-hand',
      responses,
      // @ts-expect-error -- nor by hand
      handle: () => Promise.resolve({ type: 'json', status: 418, body: fine }),
    }),
    defineRoute({
      ...common,
      path: '/items',
      responses,
      // @ts-expect-error -- no list is declared
      handle: (_, reply) => Promise.resolve(reply.items(each(fine), (item) => item)),
    }),
    defineRoute({
      ...common,
      path: '/items-of-another-shape',
      responses: { 200: z.array(thing) },
      // @ts-expect-error -- the list holds other things
      handle: (_, reply) => Promise.resolve(reply.items(each(fine), ({ id }) => ({ id }))),
    }),
    defineRoute({
      ...common,
      path: '/events',
      responses,
      // @ts-expect-error -- no events are declared
      handle: (_, reply) => Promise.resolve(reply.events(each(fine), (item) => item)),
    }),
    defineRoute({
      ...common,
      path: '/download',
      responses,
      // @ts-expect-error -- no download is declared
      handle: () => Promise.resolve({ type: 'download', ...bytes }),
    }),
    defineRoute({
      ...common,
      path: '/pending',
      responses,
      handle: (_, reply) => {
        const settled = Promise.resolve(fine);
        // @ts-expect-error -- nor may it come later
        return Promise.resolve(reply.pending({ heldBytes: 0, settled }, (body) => reply.json(202, body)));
      },
    }),
  ];
  expect(routes).toHaveLength(11);
});
