import { canFind, type Principal } from '../../../shared/access/access.js';
import { addTo } from '../../../shared/at.js';
import { bothFilters, type Shared, type SharedViews } from '../../../shared/access/sharing.js';
import type { DocumentRecord, Json } from '../../../shared/document.js';
import type { ListedPage, ListPosition } from '../../../shared/documents/list-order.js';
import type { Records } from '../../../shared/documents/records.js';
import { UnavailableError } from '../../../shared/errors.js';
import { createTurns } from '../../../shared/fair-scheduling/turns.js';
import type { Filter, Scalar } from '../../../shared/filters/parse.js';
import { createPathReader } from '../../../shared/filters/paths.js';
import type { Index } from '../../../shared/ports.js';
import { nextSlice, sortInSlices } from '../../../shared/tools/time-slices.js';
import type { Collections } from '../collections/collections.js';
import type { AnswerMemory, MemoryLease } from '../answer-memory/answer-memory.js';

export interface FacetsRequest {
  readonly principal: Principal;
  readonly filter: Filter | null;
  /** The documents of others that are counted; the setting holds where it is undefined. */
  readonly shared?: Shared | undefined;
  /** The collection that is counted; undefined for all documents. */
  readonly collection?: string | undefined;
  /** Keys as filters name them. */
  readonly keys: readonly string[];
  /** The most values of a key. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface Facets {
  /** The documents that match. */
  readonly total: number;
  /** The documents among them whose values were counted: the newest. */
  readonly counted: number;
  readonly facets: readonly Facet[];
}

export interface Facet {
  readonly key: string;
  /** The documents that have a value there. */
  readonly documents: number;
  /** The most frequent values. */
  readonly values: readonly { readonly value: Scalar; readonly count: number }[];
  /** The counts of all other values together. A document counts once for each value that it has. */
  readonly other: number;
  /** False if there were too many different values to tell them apart, or a value was too long for that. */
  readonly complete: boolean;
}

/** Counts the values of keys among the documents that a caller may read. @throws UnavailableError, NotFoundError */
export type CountFacets = (request: FacetsRequest) => Promise<Facets>;

/** The newest documents, as many as are read for one request: some seconds of reading. */
const MAX_DOCUMENTS = 100_000;
/** Different values of a key that are told apart, in the order in which they are met. */
const MAX_DIFFERENT = 10_000;
/** UTF-16 units of a value. */
const MAX_VALUE = 256;
/** Requests that are counted at once in this process, and of one caller. */
const MAX_AT_ONCE = 4;
const MAX_PER_CALLER = 2;

/** Ids that the index lists at a time. The Query Engine sorts all that it skips anew for each page. */
const LISTED_AT_ONCE = 5_000;
/** Records that are read at a time, and their bytes. */
const READ_AT_ONCE = 100;
const READ_BYTES = 256 * 1024;
/** Memory for records that are read: in memory they take some times as much. */
const STEP_BYTES = 3 * READ_BYTES;
/** Memory for a value and its count besides the value itself. */
const VALUE_BYTES = 120;

interface Dependencies {
  readonly index: Pick<Index, 'list' | 'count'>;
  readonly records: Pick<Records, 'readSomeFor'>;
  readonly sharedViews: Pick<SharedViews, 'filterOf'>;
  readonly collections: Pick<Collections, 'scope'>;
  readonly memory: AnswerMemory;
}

/** Records are read and checked one after the other, as in lists: no index decides what a caller may count. */
export function createCountFacets(parts: Dependencies): CountFacets {
  const turns = createTurns(MAX_AT_ONCE, { maxAlone: MAX_PER_CALLER, maxPerCaller: MAX_PER_CALLER });
  return ({ signal, ...asked }) =>
    turns.run(
      async () => {
        const lease = await parts.memory.reserve({
          callerId: asked.principal.id,
          bytes: STEP_BYTES,
          signal,
        });
        try {
          return await count(parts, { ...asked, signal }, lease);
        } finally {
          lease.release();
        }
      },
      { by: asked.principal.id, signal },
    );
}

async function count(parts: Dependencies, asked: FacetsRequest, lease: MemoryLease): Promise<Facets> {
  const scope = await parts.collections.scope(asked.collection, asked.principal);
  const within = { ...asked, filter: bothFilters(asked.filter, scope) };
  const request = { ...within, filter: await parts.sharedViews.filterOf(within) };
  const tallies = asked.keys.map(createTally);
  let counted = 0;
  for await (const record of matching(parts, request)) {
    if (counted === MAX_DOCUMENTS) {
      const facets = await facetsOf(tallies, asked);
      return { total: Math.max(counted, await parts.index.count(request)), counted, facets };
    }
    counted += 1;
    for (const tally of tallies) tally.add(record);
    const bytes = tallies.reduce((sum, tally) => sum + tally.bytes, STEP_BYTES);
    if (!lease.resize(bytes))
      throw new UnavailableError('memory for large answers', { retryAfterSeconds: 5 });
  }
  return { total: counted, counted, facets: await facetsOf(tallies, asked) };
}

/** Yields matching documents, the newest first, as their records are now. */
async function* matching(
  { index, records }: Dependencies,
  { principal, filter, signal }: FacetsRequest,
): AsyncGenerator<DocumentRecord> {
  for (let after: ListPosition | null = null; ;) {
    const listing = { principal, filter, after, skip: 0, limit: LISTED_AT_ONCE, signal };
    const { ids, next }: ListedPage = await index.list(listing);
    for (let start = 0; start < ids.length;) {
      signal.throwIfAborted();
      const some = ids.slice(start, start + READ_AT_ONCE);
      const read = await records.readSomeFor(principal.id, some, { enoughBytes: READ_BYTES, signal });
      start += read.length;
      for (const record of read) {
        await nextSlice();
        if (record && canFind(principal, record, filter)) yield record;
      }
    }
    if (!next) return;
    after = next;
  }
}

interface Tally {
  readonly key: string;
  readonly counts: ReadonlyMap<Scalar, number>;
  readonly documents: number;
  /** The count of values that are not told apart. */
  readonly beyond: number;
  readonly bytes: number;
  add(record: DocumentRecord): void;
}

/** A state is no field for filters, since tags would have to follow it. */
const STATUS_PATH = 'system_metadata.status';

function createTally(key: string): Tally {
  const readPath = createPathReader(key);
  const read = (record: DocumentRecord): Json | undefined => {
    const value = readPath(record);
    return value === undefined && key === STATUS_PATH ? record.status : value;
  };
  const counts = new Map<Scalar, number>();
  let [documents, beyond, bytes] = [0, 0, 0];
  const addValue = (value: Scalar) => {
    const isLong = typeof value === 'string' && value.length > MAX_VALUE;
    if (isLong || (counts.size >= MAX_DIFFERENT && !counts.has(value))) {
      beyond += 1;
      return;
    }
    if (!counts.has(value)) bytes += VALUE_BYTES + (typeof value === 'string' ? 2 * value.length : 0);
    addTo(counts, value, 1);
  };
  return {
    key,
    counts,
    get documents() {
      return documents;
    },
    get beyond() {
      return beyond;
    },
    get bytes() {
      return bytes;
    },
    add: (record) => {
      const values = differentScalars(read(record));
      if (values.size > 0) documents += 1;
      for (const value of values) addValue(value);
    },
  };
}

/** An element counts once, however often a list has it. Objects and lists within lists are no values. */
function differentScalars(value: Json | undefined): Set<Scalar> {
  const scalars = new Set<Scalar>();
  for (const element of Array.isArray(value) ? value : [value]) {
    if (element === undefined || (typeof element === 'object' && element !== null)) continue;
    scalars.add(element);
  }
  return scalars;
}

async function facetsOf(tallies: readonly Tally[], { limit }: FacetsRequest): Promise<Facet[]> {
  const facets: Facet[] = [];
  for (const { key, counts, documents, beyond } of tallies) {
    const sorted = await sortInSlices([...counts], mostFrequentFirst);
    const values = sorted.slice(0, limit).map(([value, count]) => ({ value, count }));
    const other = sorted.slice(limit).reduce((sum, [, count]) => sum + count, beyond);
    facets.push({ key, documents, values, other, complete: beyond === 0 });
  }
  return facets;
}

const TYPES = ['object', 'boolean', 'number', 'string'];

/** Ties are ordered by type and value: null, booleans, numbers, texts. */
function mostFrequentFirst([a, countOfA]: [Scalar, number], [b, countOfB]: [Scalar, number]): number {
  if (countOfA !== countOfB) return countOfB - countOfA;
  if (typeof a !== typeof b) return TYPES.indexOf(typeof a) - TYPES.indexOf(typeof b);
  if (a === b || a === null || b === null) return 0;
  return a < b ? -1 : 1;
}
