import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WithCallerTags } from './with-caller-tags.js';
import type { CallerTags } from '../../access/access-group.js';
import type { DocumentRecord } from '../../document.js';
import { matches } from '../../filters/match.js';
import type { IndexListing } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { createTurns } from '../../fair-scheduling/turns.js';
import { compileClause } from './clause.js';
import { createOrderedDocuments, type OrderedDocuments } from './ordered-documents.js';

/** Reads as many of the first of these as are wise to hold at once; at least one. */
type ReadRecords = (ids: readonly string[]) => Promise<(DocumentRecord | null)[]>;
type Selection = Pick<IndexListing, 'callerId' | 'filter' | 'signal'>;

interface ListingOptions {
  readonly readRecords: ReadRecords;
  readonly timeoutMilliseconds: number;
  readonly furthestSkip?: number;
  readonly withCallerTags: WithCallerTags;
}

/** Documents that are read and compared with a filter at a time; their lists and metadata may be large. */
const READ_SIZE = 100;
/** The comparison gives up the event loop after this time. */
const SLICE_MILLISECONDS = 10;
/** The engine skips this many documents at most. Beyond that a walk is needed. */
const MAX_SKIPPED = 1_000_000;
/** Walks of a process at a time, since the engine has 128 cursors for all processes. */
const MAX_WALKS = 8;

/** What listing and counting need. */
interface Dependencies {
  readonly documents: OrderedDocuments;
  readonly readRecords: ReadRecords;
  readonly furthestSkip: number;
  /** Runs a walk in its caller's turn among all walks of this process. */
  readonly takeTurn: <Result>(walk: () => Promise<Result>, selection: Selection) => Promise<Result>;
}

/**
 * Lists and counts documents by access and filter. Where the engine can express exactly what a filter matches, it pages and
 * counts itself. Otherwise the documents that it lets through are compared with the filter, from the first on.
 */
export function createListing(client: Redis, options: ListingOptions) {
  const { readRecords, withCallerTags, timeoutMilliseconds, furthestSkip = MAX_SKIPPED } = options;
  const walks = createTurns(MAX_WALKS, { name: 'index' });
  const parts: Dependencies = {
    documents: createOrderedDocuments(client, timeoutMilliseconds),
    readRecords,
    furthestSkip,
    takeTurn: (walk, { callerId, signal }) => walks.run(walk, { by: callerId, signal }),
  };
  return {
    list: (listing: IndexListing) =>
      withCallerTags(listing.callerId, (caller) => listAs(caller, listing, parts)),
    count: (selection: Selection) =>
      withCallerTags(selection.callerId, (caller) => countAs(caller, selection, parts)),
  };
}

async function listAs(caller: CallerTags, listing: IndexListing, parts: Dependencies): Promise<string[]> {
  const { skip, limit } = listing;
  const clause = compileClause(caller, listing.filter);
  if (!clause) return [];
  if (!clause.isExact) {
    return parts.takeTurn(() => takeRange(matching(clause.text, listing, parts), listing), listing);
  }
  if (skip <= parts.furthestSkip) return parts.documents.page(clause.text, { from: skip, size: limit });
  return farPage(clause.text, listing, parts);
}

async function countAs(caller: CallerTags, selection: Selection, parts: Dependencies): Promise<number> {
  const clause = compileClause(caller, selection.filter);
  if (!clause) return 0;
  if (clause.isExact) return parts.documents.count(clause.text);
  return parts.takeTurn(async () => {
    let count = 0;
    for await (const ids of matching(clause.text, selection, parts)) count += ids.length;
    return count;
  }, selection);
}

/** Returns a page beyond what the engine skips. Mostly there is nothing, which counting finds out. */
async function farPage(
  query: string,
  listing: IndexListing,
  { documents, takeTurn }: Dependencies,
): Promise<string[]> {
  if ((await documents.count(query)) <= listing.skip) return [];
  return takeTurn(() => takeRange(documents.walk(query), listing), listing);
}

/** Reads pages until the wanted range has been read. */
async function takeRange(
  pages: AsyncIterable<readonly string[]>,
  { skip, limit, signal }: IndexListing,
): Promise<string[]> {
  const found: string[] = [];
  let seen = 0;
  for await (const ids of pages) {
    signal?.throwIfAborted();
    found.push(...ids.slice(Math.max(0, skip - seen)));
    seen += ids.length;
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Yields, in pages, the documents that match among those that the query lets through. */
async function* matching(
  query: string,
  { callerId, filter, signal }: Selection,
  { documents, readRecords }: Pick<Dependencies, 'documents' | 'readRecords'>,
): AsyncGenerator<string[]> {
  for await (const ids of documents.walk(query)) {
    for (let start = 0; start < ids.length;) {
      signal?.throwIfAborted();
      const records = await readRecords(ids.slice(start, start + READ_SIZE));
      start += records.length;
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
