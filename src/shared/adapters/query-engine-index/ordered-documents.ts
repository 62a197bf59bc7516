import type { Placed } from '../../documents/list-order.js';
import type { Redis } from '../../redis/client.js';
import { documentIndex } from './definition.js';
import { refuseWarnings } from './engine.js';

/** Ids that the engine returns at a time during a walk. */
const PAGE_SIZE = 500;
/** More documents than a Redis holds. Without a limit the engine sorts only the first ten. */
const MAX_DOCUMENTS = 100_000_000;
const CURSOR_MILLISECONDS = 30_000;

const { alias } = documentIndex;

/** An order that the engine knows by itself: times are fields of the records' hashes, and names are not. */
export interface EngineOrder {
  readonly by: 'created' | 'updated';
  readonly isDescending: boolean;
}

const FIELDS = { created: 'createdAt', updated: 'updatedAt' } as const;

const sorting = ({ by, isDescending }: EngineOrder) => ({
  type: 'SORTBY' as const,
  BY: [
    { BY: `@${FIELDS[by]}` as const, DIRECTION: isDescending ? ('DESC' as const) : ('ASC' as const) },
    { BY: '@id' as const, DIRECTION: 'ASC' as const },
  ],
});

/** The time of the last change is no field of the index, so that the engine has to read it from the hashes. */
const loading = ({ by }: EngineOrder) => (by === 'updated' ? { LOAD: '@updatedAt' as const } : {});

/** Finds documents by a query in the engine's language, in order. */
export interface OrderedDocuments {
  /** Returns as many documents as are asked for, unless no more follow. */
  page(
    query: string,
    range: { readonly from: number; readonly size: number; readonly order: EngineOrder },
  ): Promise<Placed[]>;
  count(query: string): Promise<number>;
  /** Returns all documents, as they were when the walk began, in pages. It occupies a cursor of the engine until it ends. */
  walk(query: string, order: EngineOrder): AsyncGenerator<Placed[]>;
}

export function createOrderedDocuments(client: Redis, timeoutMilliseconds: number): OrderedDocuments {
  const limits = { TIMEOUT: timeoutMilliseconds, DIALECT: 2 };
  return {
    page: async (query, { order, from, size: wanted }) => {
      // More are asked for where some were deleted meanwhile: a short page counts as the end of the list.
      for (let size = wanted; ; size *= 2) {
        const steps = [sorting(order), { type: 'LIMIT' as const, from, size }];
        const request = { STEPS: steps, ...loading(order), ...limits };
        const { results, warnings } = await client.ft.aggregate(alias, query, request);
        refuseWarnings(warnings);
        const placed = placesOf(results, order);
        if (placed.length >= wanted || results.length < size) return placed.slice(0, wanted);
      }
    },
    count: async (query) => {
      const reply = await client.ft.search(alias, query, { LIMIT: { from: 0, size: 0 }, ...limits });
      refuseWarnings(reply.warnings);
      return reply.total;
    },
    walk: async function* (query, order) {
      const steps = [sorting(order), { type: 'LIMIT' as const, from: 0, size: MAX_DOCUMENTS }];
      // A process that dies leaves its cursor behind, which should not last the usual five minutes.
      const more = { ...loading(order), ...limits };
      const request = { STEPS: steps, COUNT: PAGE_SIZE, MAXIDLE: CURSOR_MILLISECONDS, ...more };
      let reply = await client.ft.aggregateWithCursor(alias, query, request);
      try {
        for (;;) {
          refuseWarnings(reply.warnings);
          yield placesOf(reply.results, order);
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
function placesOf(rows: readonly Readonly<Record<string, unknown>>[], { by }: EngineOrder): Placed[] {
  return rows.flatMap(({ id, [FIELDS[by]]: value }) =>
    typeof id === 'string'
      ? [{ id: id.slice(1, -1), value: typeof value === 'string' ? value.slice(1, -1) : '' }]
      : [],
  );
}
