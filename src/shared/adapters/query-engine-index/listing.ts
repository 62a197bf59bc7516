import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallerTags } from '../../audience.js';
import type { AskAs } from '../../audiences.js';
import type { DocumentRecord } from '../../document.js';
import { matches } from '../../filter-match.js';
import type { IndexListing } from '../../ports.js';
import type { Redis } from '../../redis.js';
import { createTurns } from '../../turns.js';
import { compileClause } from './clause.js';
import { documentIndex } from './definition.js';
import { refuseWarnings } from './engine.js';

type ReadRecords = (ids: readonly string[]) => Promise<(DocumentRecord | null)[]>;
type Selection = Pick<IndexListing, 'callerId' | 'filter' | 'signal'>;

interface ListingOptions {
  readonly readRecords: ReadRecords;
  readonly timeoutMilliseconds: number;
  readonly furthestSkip?: number;
  readonly askAs: AskAs;
}

/** Ids that the engine answers at a time. */
const PAGE_SIZE = 500;
/** Documents read, and held against a filter, at a time: their lists and metadata may be large. */
const READ_SIZE = 100;
/** How long documents are held against a filter before others get the event loop. */
const SLICE_MILLISECONDS = 10;
/** More than a Redis holds; without a limit the engine sorts out ten. */
const MOST_DOCUMENTS = 100_000_000;
/** The furthest that the engine skips to: what lies beyond is walked to. */
const MOST_SKIPPED = 1_000_000;
/** Of a process: the engine has 128 cursors for all. */
const MOST_WALKS = 8;
const CURSOR_MILLISECONDS = 30_000;

/**
 * Documents by access and filter. Where the engine can ask for exactly what a filter matches, it pages and counts;
 * otherwise what it lets through is held against the filter, from the top.
 */
export function createListing(client: Redis, options: ListingOptions) {
  const { readRecords, askAs, timeoutMilliseconds, furthestSkip = MOST_SKIPPED } = options;
  const { alias } = documentIndex;
  const walks = createTurns(MOST_WALKS, { name: 'index' });
  const newestFirst = {
    type: 'SORTBY' as const,
    BY: [
      { BY: '@createdAt' as const, DIRECTION: 'DESC' as const },
      { BY: '@id' as const, DIRECTION: 'ASC' as const },
    ],
  };
  const limits = { TIMEOUT: timeoutMilliseconds, DIALECT: 2 };

  const page = async (text: string, from: number, size: number): Promise<string[]> => {
    const steps = [newestFirst, { type: 'LIMIT' as const, from, size }];
    const { results, warnings } = await client.ft.aggregate(alias, text, { STEPS: steps, ...limits });
    refuseWarnings(warnings);
    return idsOf(results);
  };

  const total = async (text: string): Promise<number> => {
    const reply = await client.ft.search(alias, text, { LIMIT: { from: 0, size: 0 }, ...limits });
    refuseWarnings(reply.warnings);
    return reply.total;
  };

  /** All that the query lets through, as it was when it began, in pages. */
  async function* pages(text: string): AsyncGenerator<string[]> {
    const steps = [newestFirst, { type: 'LIMIT' as const, from: 0, size: MOST_DOCUMENTS }];
    // A process that dies leaves its cursor behind: not for the five minutes that are usual.
    const request = { STEPS: steps, COUNT: PAGE_SIZE, MAXIDLE: CURSOR_MILLISECONDS, ...limits };
    let reply = await client.ft.aggregateWithCursor(alias, text, request);
    try {
      for (;;) {
        refuseWarnings(reply.warnings);
        yield idsOf(reply.results);
        if (reply.cursor === 0) return;
        reply = await client.ft.cursorRead(alias, reply.cursor, { COUNT: PAGE_SIZE });
      }
    } finally {
      // One whose query failed is gone already; any other goes when its time is over.
      if (reply.cursor !== 0) await client.ft.cursorDel(alias, reply.cursor).catch(() => undefined);
    }
  }

  /** A page beyond what the engine skips to: mostly there is nothing, which counting tells. */
  const farPage = async (text: string, listing: IndexListing): Promise<string[]> => {
    const { skip: from, limit: size, signal } = listing;
    if ((await total(text)) <= from) return [];
    return walks.run(async () => {
      const found: string[] = [];
      let seen = 0;
      for await (const ids of pages(text)) {
        signal?.throwIfAborted();
        found.push(...ids.slice(Math.max(0, from - seen)));
        seen += ids.length;
        if (found.length >= size) break;
      }
      return found.slice(0, size);
    }, turnOf(listing));
  };

  /** Of what the query lets through, what matches, in pages. */
  async function* matching(text: string, { callerId, filter, signal }: Selection): AsyncGenerator<string[]> {
    for await (const ids of pages(text)) {
      for (let start = 0; start < ids.length; start += READ_SIZE) {
        signal?.throwIfAborted();
        const records = await readRecords(ids.slice(start, start + READ_SIZE));
        const found: string[] = [];
        let sliceEnd = performance.now() + SLICE_MILLISECONDS;
        for (const record of records) {
          if (record && matches(record, callerId, filter)) found.push(record.id);
          if (performance.now() < sliceEnd) continue;
          await nextTurn();
          sliceEnd = performance.now() + SLICE_MILLISECONDS;
        }
        yield found;
      }
    }
  }

  const listAs = async (caller: CallerTags, listing: IndexListing): Promise<string[]> => {
    const { skip, limit } = listing;
    const clause = compileClause(caller, listing.filter);
    if (!clause) return [];
    if (clause.isExact)
      return skip > furthestSkip ? farPage(clause.text, listing) : page(clause.text, skip, limit);
    return walks.run(async () => {
      const found: string[] = [];
      for await (const ids of matching(clause.text, listing)) {
        found.push(...ids);
        if (found.length >= skip + limit) break;
      }
      return found.slice(skip, skip + limit);
    }, turnOf(listing));
  };

  const countAs = async (caller: CallerTags, selection: Selection): Promise<number> => {
    const clause = compileClause(caller, selection.filter);
    if (!clause) return 0;
    if (clause.isExact) return total(clause.text);
    return walks.run(async () => {
      let count = 0;
      for await (const ids of matching(clause.text, selection)) count += ids.length;
      return count;
    }, turnOf(selection));
  };

  return {
    list: (listing: IndexListing) => askAs(listing.callerId, (caller) => listAs(caller, listing)),
    count: (selection: Selection) => askAs(selection.callerId, (caller) => countAs(caller, selection)),
  };
}

const turnOf = ({ callerId, signal }: Selection) => ({ by: callerId, signal });

/** The record holds its fields as JSON; one that was deleted since it was found has none. */
function idsOf(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return rows.flatMap(({ id }) => (typeof id === 'string' ? [id.slice(1, -1)] : []));
}
