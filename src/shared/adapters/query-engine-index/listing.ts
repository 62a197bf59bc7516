import { setImmediate as nextTurn } from 'node:timers/promises';
import { canFind, type CallerTags } from '../../access/access.js';
import type { WithCallerTags } from '../../access/with-caller-tags.js';
import type { DocumentRecord } from '../../document.js';
import {
  comparePlaces,
  listValue,
  nameMatcher,
  NEWEST_FIRST,
  pageOf,
  type ListedPage,
  type ListOrder,
  type Placed,
} from '../../documents/list-order.js';
import { createTurns } from '../../fair-scheduling/turns.js';
import type { DocumentSelection, IndexListing } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { sortInSlices } from '../../tools/time-slices.js';
import { compileClause } from './clause.js';
import { documentIndex } from './definition.js';
import { refuseWarnings } from './engine.js';
import type { AreOwnersTagged } from './owner-tags.js';

/** Reads as many of the first of these as are wise to hold at once; at least one. */
type ReadRecords = (ids: readonly string[]) => Promise<(DocumentRecord | null)[]>;
type Selection = DocumentSelection;

interface ListingOptions {
  readonly readRecords: ReadRecords;
  readonly timeoutMilliseconds: number;
  readonly furthestSkip?: number;
  readonly withCallerTags: WithCallerTags;
  readonly areOwnersTagged: AreOwnersTagged;
}

/** Documents that are read and compared with a filter at a time; their lists and metadata may be large. */
const READ_SIZE = 100;
/** The comparison gives up the event loop after this time. */
const SLICE_MILLISECONDS = 10;
/** The engine skips this many documents at most. Beyond that a walk is needed. */
const MAX_SKIPPED = 1_000_000;
/** Walks of a process at a time, since the engine has 128 cursors for all processes. */
const MAX_WALKS = 8;

/** The parts that listing and counting need. */
interface Dependencies {
  readonly documents: OrderedDocuments;
  readonly readRecords: ReadRecords;
  readonly furthestSkip: number;
  readonly areOwnersTagged: AreOwnersTagged;
  /** Runs a walk in its caller's turn among all walks of this process. */
  readonly takeTurn: <Result>(walk: () => Promise<Result>, selection: Selection) => Promise<Result>;
}

/**
 * Lists and counts documents by access and filter. Where the engine can express a filter exactly, it pages and counts
 * itself. Otherwise the documents that it lets through are compared with the filter, from the first on.
 */
export function createListing(client: Redis, options: ListingOptions) {
  const { readRecords, withCallerTags, areOwnersTagged, timeoutMilliseconds } = options;
  const { furthestSkip = MAX_SKIPPED } = options;
  const walks = createTurns(MAX_WALKS, { name: 'index' });
  const parts: Dependencies = {
    documents: createOrderedDocuments(client, timeoutMilliseconds),
    readRecords,
    furthestSkip,
    areOwnersTagged,
    takeTurn: (walk, { principal, signal }) => walks.run(walk, { by: principal.id, signal }),
  };
  return {
    list: (listing: IndexListing) =>
      withCallerTags(listing.principal, (caller) => listAs(caller, listing, parts)),
    count: (selection: Selection) =>
      withCallerTags(selection.principal, (caller) => countAs(caller, selection, parts)),
  };
}

async function listAs(caller: CallerTags, listing: IndexListing, parts: Dependencies): Promise<ListedPage> {
  const { skip, order = NEWEST_FIRST, name = null, after = null } = listing;
  const clause = compileClause(caller, listing.filter, await parts.areOwnersTagged(listing.filter));
  if (!clause) return { ids: [], next: null };
  const isExact = clause.isExact && name === null;
  const isNear = skip + (after?.rank ?? 0) <= parts.furthestSkip;
  if (isExact && isNear && isOfEngine(order)) {
    const { placed, rank } = await nearPage(clause.text, listing, parts);
    // The next page is looked for where this one was found.
    return pageOf(placed, { skip, limit: listing.limit, after: after && { ...after, rank } });
  }
  // Beyond what the engine skips there is mostly nothing, which counting finds out.
  if (isExact && !isNear && (await parts.documents.count(clause.text)) <= skip)
    return { ids: [], next: null };
  const walked = { ...listing, query: clause.text, isExact };
  return parts.takeTurn(async () => pageOf(await takeRange(walked, parts), listing), listing);
}

async function countAs(caller: CallerTags, selection: Selection, parts: Dependencies): Promise<number> {
  const clause = compileClause(caller, selection.filter, await parts.areOwnersTagged(selection.filter));
  if (!clause) return 0;
  const isExact = clause.isExact && (selection.name ?? null) === null;
  if (isExact) return parts.documents.count(clause.text);
  return parts.takeTurn(async () => {
    let count = 0;
    for await (const found of matching({ ...selection, query: clause.text, isExact }, parts))
      count += found.length;
    return count;
  }, selection);
}

const isOfEngine = (order: ListOrder): order is EngineOrder => order.by !== 'name';

/** The documents after a place, and the rank of the first of them before any is skipped. */
interface Found {
  readonly placed: Placed[];
  readonly rank: number;
}

/**
 * Reads a page, and one document more, that the engine sorts and skips to. A place in the list is looked for around the rank
 * that it had: in larger steps each time, since the engine sorts all that it skips anew for each.
 */
async function nearPage(
  query: string,
  { skip, limit, after = null, order = NEWEST_FIRST }: IndexListing,
  { documents }: Pick<Dependencies, 'documents'>,
): Promise<Found> {
  const wanted = limit + 1;
  if (!isOfEngine(order)) return { placed: [], rank: 0 };
  if (!after) return { placed: await documents.page(query, { from: skip, size: wanted, order }), rank: 0 };
  let step = limit;
  let from = Math.max(0, after.rank - step);
  let size = step + skip + wanted;
  for (;;) {
    const rows = await documents.page(query, { from, size, order });
    const first = rows.findIndex((each) => comparePlaces(each, after, order) > 0);
    const isEnd = rows.length < size;
    if (from > 0 && (first === 0 || rows.length === 0)) {
      // The documents before the place have gone, or the list is shorter now.
      step *= 8;
      from = Math.max(0, from - step);
      size = Math.min(step, MAX_READ) + skip + wanted;
    } else if (isEnd || (first >= 0 && rows.length - first >= skip + wanted)) {
      const placed = first < 0 ? [] : rows.slice(first + skip, first + skip + wanted);
      return { placed, rank: from + Math.max(0, first) };
    } else {
      // More has come before the place. The row before the next ones is read again: it shows that none was left out.
      const passed = first < 0 ? rows.length : first;
      from += Math.max(0, passed - 1);
      size = first < 0 ? Math.max(size, Math.min(2 * size, MAX_READ)) : 1 + skip + wanted;
    }
  }
}

/** Documents that are passed over at a time. */
const MAX_READ = 10_000;

/** The documents that are walked through, from the first one on. */
interface Walk extends Selection, Partial<Pick<IndexListing, 'order' | 'after'>> {
  readonly query: string;
  /** True if the query lets through no other documents than the wanted ones. */
  readonly isExact: boolean;
}

/** Reads pages until the wanted range has been read, and one document more. */
async function takeRange(walk: Walk & IndexListing, parts: Dependencies): Promise<Placed[]> {
  const { order = NEWEST_FIRST, signal, skip, limit } = walk;
  const found: Placed[] = [];
  let seen = 0;
  for await (const page of inOrder(matching(walk, parts), order)) {
    signal?.throwIfAborted();
    found.push(...page.slice(Math.max(0, skip - seen)));
    seen += page.length;
    if (found.length > limit) break;
  }
  return found.slice(0, limit + 1);
}

/** The engine does not know names, so that all documents are gathered and sorted here. */
async function* inOrder(pages: AsyncIterable<Placed[]>, order: ListOrder): AsyncGenerator<Placed[]> {
  if (isOfEngine(order)) {
    yield* pages;
    return;
  }
  const all: Placed[] = [];
  for await (const page of pages) all.push(...page);
  yield await sortInSlices(all, (a, b) => comparePlaces(a, b, order));
}

/** Yields, in pages, the matching documents that the query lets through. */
async function* matching(
  walk: Walk,
  parts: Pick<Dependencies, 'documents' | 'readRecords'>,
): AsyncGenerator<Placed[]> {
  const { query, isExact, signal, after = null, order = NEWEST_FIRST } = walk;
  const engineOrder = isOfEngine(order) ? order : NEWEST_OF_ENGINE;
  const isAfter = (each: Placed) => after === null || comparePlaces(each, after, order) > 0;
  for await (const rows of parts.documents.walk(query, engineOrder)) {
    // Documents before the place need not be read. Places by name are known only once they are read.
    const left = isOfEngine(order) ? rows.filter(isAfter) : rows;
    if (isExact && isOfEngine(order)) {
      yield left;
      continue;
    }
    for (let start = 0; start < left.length;) {
      signal?.throwIfAborted();
      const some = left.slice(start, start + READ_SIZE);
      const records = await parts.readRecords(some.map(({ id }) => id));
      start += records.length;
      yield (await comparedWith(walk, some, records)).filter(isAfter);
    }
  }
}

const NEWEST_OF_ENGINE: EngineOrder = { by: 'created', isDescending: true };

/** Returns the documents whose records match, a slice of time after the other. */
async function comparedWith(
  { principal, filter, name = null, order = NEWEST_FIRST }: Walk,
  places: readonly Placed[],
  records: readonly (DocumentRecord | null)[],
): Promise<Placed[]> {
  const found: Placed[] = [];
  const isNamed = nameMatcher(name);
  let sliceEnd = performance.now() + SLICE_MILLISECONDS;
  for (const [i, record] of records.entries()) {
    const place = places[i];
    if (record && place && canFind(principal, record, filter) && isNamed(record))
      found.push(isOfEngine(order) ? place : { id: record.id, value: listValue(record, order.by) });
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + SLICE_MILLISECONDS;
  }
  return found;
}

/** Ids that the engine returns at a time during a walk. */
const PAGE_SIZE = 500;
/** More documents than a Redis holds. Without a limit the engine sorts only the first ten. */
const MAX_DOCUMENTS = 100_000_000;
const CURSOR_MILLISECONDS = 30_000;

const { alias } = documentIndex;

/** An order that the engine knows by itself: times are fields of the records' hashes, and names are not. */
interface EngineOrder {
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
interface OrderedDocuments {
  /** Returns as many documents as are asked for, unless no more follow. */
  page(
    query: string,
    range: { readonly from: number; readonly size: number; readonly order: EngineOrder },
  ): Promise<Placed[]>;
  count(query: string): Promise<number>;
  /** Returns all documents, as they were when the walk began, in pages. It occupies a cursor of the engine until it ends. */
  walk(query: string, order: EngineOrder): AsyncGenerator<Placed[]>;
}

function createOrderedDocuments(client: Redis, timeoutMilliseconds: number): OrderedDocuments {
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
