import { canFind, type Principal } from '../../../shared/access/access.js';
import { bothFilters, type Shared, type SharedViews } from '../../../shared/access/sharing.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { StoredChunk } from '../../../shared/chunks/fields.js';
import { shownContent, type DocumentRecord } from '../../../shared/document.js';
import { nameMatcher, type ListOrder, type ListPosition } from '../../../shared/documents/list-order.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Index } from '../../../shared/ports.js';
import {
  heldByRecord,
  heldSize,
  type AnswerMemory,
  type MemoryLease,
} from '../answer-memory/answer-memory.js';
import type { Collections } from '../collections/collections.js';
import { eachOf, held } from '../stream-end.js';
import { readDocument, type DocumentRequest } from './document-access.js';

export interface Page {
  readonly skip: number;
  readonly limit: number;
}

export interface DocumentListing extends Page {
  readonly principal: Principal;
  readonly filter: Filter | null;
  /** The documents of others that are listed; the setting holds where it is undefined. */
  readonly shared?: Shared | undefined;
  /** The collection whose documents are listed; undefined for all documents. */
  readonly collection?: string | undefined;
  readonly signal: AbortSignal;
  /** See `IndexListing`; the newest first, and all of them, where these are absent. */
  readonly name?: string | null;
  readonly order?: ListOrder;
  readonly after?: ListPosition | null;
  /** True if the number of matching documents is to be told. */
  readonly isCounted?: boolean;
}

export interface ListedDocuments {
  /** The records are read and checked as they are consumed, a few at a time; documents that are gone by then are left out. */
  readonly records: AsyncIterable<DocumentRecord>;
  /** The place where the list goes on; null at its end. */
  readonly next: ListPosition | null;
  /** The number of matching documents, whatever the page; null where that was not asked for. */
  readonly total: number | null;
}

export interface Documents {
  /** Lists matching documents that the caller may read, ties by id. @throws UnavailableError, NotFoundError */
  list(listing: DocumentListing): Promise<ListedDocuments>;
  /** @throws ForbiddenError, NotFoundError; so does `chunks` */
  get(request: DocumentRequest): Promise<DocumentRecord>;
  /** Lists the chunks of the published version; none while none is published. */
  chunks(
    request: DocumentRequest & { readonly signal: AbortSignal },
    page: Page,
  ): Promise<AsyncIterable<StoredChunk>>;
}

/** Memory that is reserved for a record before it is read. */
const RECORD_BYTES = 24 * 1024;
/** Memory for records that are read at once, if they are more than one. */
const STEP_BYTES = 192 * 1024;
/** The bytes of them that are read from Redis at once. In memory they take some times as much. */
const READ_BYTES = STEP_BYTES / 3;
/** Memory that is reserved for a chunk before it is read. */
const CHUNK_BYTES = 8 * 1024;
/** Memory for a chunk's id in a response, including its serialized form. */
const CHUNK_ID_BYTES = 150;

/** The number of records that are read and checked at a time, so that a page of large ones never blocks the event loop. */
const CHECK_SIZE = 20;

interface Dependencies {
  readonly records: Records;
  readonly chunks: Pick<Chunks, 'readTexts'>;
  readonly index: Pick<Index, 'list' | 'count'>;
  readonly memory: AnswerMemory;
  readonly sharedViews: Pick<SharedViews, 'filterOf'>;
  readonly collections: Pick<Collections, 'scope'>;
}

export function createReadDocuments(parts: Dependencies): Documents {
  const { records, memory } = parts;
  return {
    list: (listing) => list(parts, listing),
    get: (request) => readDocument(records, request, 'read'),
    chunks: async (request, page) => {
      const { signal } = request;
      const bytes = page.limit * CHUNK_BYTES;
      const lease = await memory.reserve({ callerId: request.principal.id, bytes, signal });
      try {
        const texts = await readWithinMemory(lease, {
          read: () => readTexts(parts, request, page),
          sizeOf: heldSize,
          signal,
          isSent: false,
        });
        return held(eachOf(texts), lease);
      } catch (error) {
        lease.release();
        throw error;
      }
    },
  };
}

async function list(
  parts: Dependencies,
  { collection, ...asked }: DocumentListing,
): Promise<ListedDocuments> {
  const { index, sharedViews, collections } = parts;
  const scope = await collections.scope(collection, asked.principal);
  const filter = await sharedViews.filterOf({ ...asked, filter: bothFilters(asked.filter, scope) });
  const listing = { ...asked, filter };
  const [{ ids, next }, total] = await Promise.all([
    index.list(listing),
    listing.isCounted === true ? index.count(listing) : null,
  ]);
  return { records: readListed(parts, ids, listing), next, total };
}

async function* readListed(
  { records, memory }: Dependencies,
  ids: readonly string[],
  listing: DocumentListing,
): AsyncGenerator<DocumentRecord> {
  const { principal, signal } = listing;
  const bytes = Math.min(listing.limit * RECORD_BYTES, STEP_BYTES);
  const lease = await memory.reserve({ callerId: principal.id, bytes, signal });
  try {
    // Documents that are gone are not replaced by documents from further down, which are on the next page.
    yield* check(records, ids, { listing, lease, stepBytes: bytes });
  } finally {
    lease.release();
  }
}

interface Checking {
  readonly listing: DocumentListing;
  readonly lease: MemoryLease;
  /** The bytes that the lease does not go below, so that most steps need not wait for room. */
  readonly stepBytes: number;
}

async function* check(
  records: Pick<Records, 'readSomeFor'>,
  ids: readonly string[],
  { listing, lease, stepBytes }: Checking,
): AsyncGenerator<DocumentRecord> {
  const { principal, filter, name = null, signal } = listing;
  const isNamed = nameMatcher(name);
  const readFound = async (wanted: readonly string[], enoughBytes: number): Promise<Step> => {
    const read = await records.readSomeFor(principal.id, wanted, { enoughBytes, signal });
    const found = read.filter(
      (record) => record !== null && canFind(principal, record, filter) && isNamed(record),
    );
    return { count: read.length, found };
  };
  const sizeOf = ({ found }: Step) => Math.max(stepBytes, sizeOfStep(found));
  let isSent = false;
  for (let start = 0; start < ids.length;) {
    const next = ids.slice(start, start + CHECK_SIZE);
    const step =
      (await readIfRoom(lease, { read: () => readFound(next, READ_BYTES), sizeOf })).value ??
      // Together they are too large: one at a time, and where there is no room for one, it waits for that.
      (await readWithinMemory(lease, { read: () => readFound(next.slice(0, 1), 1), sizeOf, signal, isSent }));
    start += step.count;
    for (const record of step.found) {
      if (!record) continue;
      yield record;
      isSent = true;
    }
  }
}

/** The first of some records that were read, and the records among them that belong into the answer. */
interface Step {
  readonly count: number;
  readonly found: readonly (DocumentRecord | null)[];
}

async function readTexts(
  { records, chunks }: Dependencies,
  request: DocumentRequest,
  { skip, limit }: Page,
): Promise<StoredChunk[]> {
  for (;;) {
    const content = (await readDocument(records, request, 'read')).published;
    if (!content?.generation) return [];
    const count = Math.max(0, Math.min(limit, content.chunkCount - skip));
    const texts = await chunks.readTexts(content.generation, skip, count);
    // The record is read again at the end, so that no revocation and no new version is missed.
    const now = await readDocument(records, request, 'read');
    if (now.published?.generation === content.generation) return texts;
  }
}

/** Records, and the largest of them as it is sent: its text, and the bytes of that. */
function sizeOfStep(found: readonly (DocumentRecord | null)[]): number {
  const sizes = found.map(recordSize);
  return sizes.reduce((sum, size) => sum + size, 0) + 2 * Math.max(0, ...sizes);
}

function recordSize(record: DocumentRecord | null): number {
  if (!record) return 0;
  return heldByRecord(record) + CHUNK_ID_BYTES * shownContent(record).chunkCount;
}

interface Reading<Value> {
  readonly read: () => Promise<Value>;
  readonly sizeOf: (value: Value) => number;
}

type Read<Value> = { readonly value: Value } | { readonly value: null; readonly bytes: number };

/** Reads something and takes room for it; where there is none, only its size is left of it. */
async function readIfRoom<Value>(lease: MemoryLease, { read, sizeOf }: Reading<Value>): Promise<Read<Value>> {
  const value = await read();
  const bytes = sizeOf(value);
  return lease.resize(bytes) ? { value } : { value: null, bytes };
}

/**
 * The same, but waits for room for as much, and reads again: meanwhile it holds nothing.
 * @throws UnavailableError when no room comes
 */
async function readWithinMemory<Value>(
  lease: MemoryLease,
  {
    read,
    sizeOf,
    signal,
    isSent,
  }: Reading<Value> & { readonly signal: AbortSignal; readonly isSent: boolean },
): Promise<Value> {
  for (;;) {
    const result = await readIfRoom(lease, { read, sizeOf });
    if (!('bytes' in result)) return result.value;
    await lease.exchange({ bytes: result.bytes, signal, isSent });
  }
}
