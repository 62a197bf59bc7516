import type { Redis } from '../../redis/client.js';
import { documentIndex } from './definition.js';
import { refuseWarnings } from './engine.js';

/** Ids that the engine returns at a time during a walk. */
const PAGE_SIZE = 500;
/** More documents than a Redis holds. Without a limit the engine sorts only the first ten. */
const MAX_DOCUMENTS = 100_000_000;
const CURSOR_MILLISECONDS = 30_000;

const { alias } = documentIndex;
const newestFirst = {
  type: 'SORTBY' as const,
  BY: [
    { BY: '@createdAt' as const, DIRECTION: 'DESC' as const },
    { BY: '@id' as const, DIRECTION: 'ASC' as const },
  ],
};

/** Finds the ids of documents by a query in the engine's language, newest document first. */
export interface OrderedDocuments {
  page(query: string, range: { readonly from: number; readonly size: number }): Promise<string[]>;
  count(query: string): Promise<number>;
  /** Returns all ids, as they were when the walk began, in pages. It occupies a cursor of the engine until it ends. */
  walk(query: string): AsyncGenerator<string[]>;
}

export function createOrderedDocuments(client: Redis, timeoutMilliseconds: number): OrderedDocuments {
  const limits = { TIMEOUT: timeoutMilliseconds, DIALECT: 2 };
  return {
    page: async (query, range) => {
      const steps = [newestFirst, { type: 'LIMIT' as const, ...range }];
      const { results, warnings } = await client.ft.aggregate(alias, query, { STEPS: steps, ...limits });
      refuseWarnings(warnings);
      return idsOf(results);
    },
    count: async (query) => {
      const reply = await client.ft.search(alias, query, { LIMIT: { from: 0, size: 0 }, ...limits });
      refuseWarnings(reply.warnings);
      return reply.total;
    },
    walk: async function* (query) {
      const steps = [newestFirst, { type: 'LIMIT' as const, from: 0, size: MAX_DOCUMENTS }];
      // A process that dies leaves its cursor behind, which should not last the usual five minutes.
      const request = { STEPS: steps, COUNT: PAGE_SIZE, MAXIDLE: CURSOR_MILLISECONDS, ...limits };
      let reply = await client.ft.aggregateWithCursor(alias, query, request);
      try {
        for (;;) {
          refuseWarnings(reply.warnings);
          yield idsOf(reply.results);
          if (reply.cursor === 0) return;
          reply = await client.ft.cursorRead(alias, reply.cursor, { COUNT: PAGE_SIZE });
        }
      } finally {
        // The cursor of a failed query is gone already, and any other ends by its time limit.
        if (reply.cursor !== 0) await client.ft.cursorDel(alias, reply.cursor).catch(() => undefined);
      }
    },
  };
}

/** Records hold their fields as JSON. A document that was deleted since it was found has no id. */
function idsOf(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return rows.flatMap(({ id }) => (typeof id === 'string' ? [id.slice(1, -1)] : []));
}
