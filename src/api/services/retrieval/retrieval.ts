import type { Metadata } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Ranking } from '../../../shared/search/ranking.js';
import type { Hit } from '../../../shared/search/hit.js';
import type { SearchRequest } from '../../../shared/search/request.js';
import type { Search } from '../../../shared/search/search.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';
import type { DownloadUrl } from '../documents/downloads.js';
import { MAX_HELD_BYTES, type SourceTexts } from '../documents/source-text.js';
import type { AnswerMemory, Lease } from '../answer-memory/answer-memory.js';
import { areSmall, giveOut, MAX_BYTES_AT_ONCE, toFoundChunk, type FoundChunk } from './found-chunks.js';
import { readFoundDocuments, type DocumentHit, type FoundDocument } from './found-documents.js';
import { hitsWanted, searchWithinMemory } from './search-within-memory.js';
import { onStreamEnd } from '../stream-end.js';

/** A validated search and its caller. */
export interface RetrievalRequest {
  readonly callerId: string;
  readonly baseUrl: string;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly query: string;
  readonly filter: Filter | null;
  readonly k: number;
  readonly minScore: number;
  /** Undefined when the ranking of the settings applies. */
  readonly ranking: Ranking | undefined;
}

/** What a search found: all of it where it is small, and else one by one. */
export type Found<Item> =
  | { readonly type: 'whole'; readonly items: readonly Item[] }
  | { readonly type: 'stream'; readonly items: AsyncIterable<Item> };

export interface Retrieval {
  /** Finds chunks, with their records as of the end of the search. */
  chunks(request: RetrievalRequest): Promise<Found<FoundChunk>>;
  /** Finds documents. They are read with their whole text and yielded one by one. */
  documents(request: RetrievalRequest): Promise<AsyncIterable<FoundDocument>>;
}

interface Dependencies {
  readonly search: Search;
  readonly accounting: Accounting;
  readonly memory: AnswerMemory;
  readonly records: Records;
  readonly texts: SourceTexts;
  readonly countTokens: (text: string) => number;
  readonly downloadUrl: DownloadUrl;
}

export function createRetrieval(parts: Dependencies): Retrieval {
  const { accounting } = parts;
  return {
    chunks: async (request) => {
      const accounted = accountedSearch('retrieve_chunks', request);
      const tokens = parts.countTokens(request.query);
      const along = accounting.along(accounted, { tokens, maxBytes: bytesAtOnce(request) });
      const find = () => findChunks(parts, { ...request, event: along });
      const found = await accounting.begin(accounted, find, along);
      if (along.isAppended) return found;
      if (found.type === 'stream') {
        return { type: 'stream', items: accounting.list(accounted, found.items, tokens) };
      }
      await accounting.succeed(accounted, tokens);
      return found;
    },
    documents: async (request) => {
      const accounted = accountedSearch('retrieve_docs', request);
      const tokens = parts.countTokens(request.query);
      const found = await accounting.begin(accounted, () => findDocuments(parts, request));
      return accounting.list(accounted, found, tokens);
    },
  };
}

function accountedSearch(
  operation: 'retrieve_chunks' | 'retrieve_docs',
  request: RetrievalRequest,
): AccountedRequest {
  const { callerId: userId, startedAtMs, signal } = request;
  return { operation, userId, startedAtMs, signal, metadata: searchMetadata(request) };
}

/** Chunks up to this size need no more memory than is reserved, and are sent at once. Nothing can keep them from that. */
const bytesAtOnce = (request: RetrievalRequest): number =>
  Math.min(hitsWanted(request).bytes, MAX_BYTES_AT_ONCE);

/** Few chunks hold no memory any more: less of them is sent at once than a connection may hold unsent. */
function findChunks(
  parts: Dependencies,
  request: RetrievalRequest & Pick<SearchRequest, 'event'>,
): Promise<Found<FoundChunk>> {
  return searchFor<Found<FoundChunk>>(parts, { ...request, per: 'chunk' }, (hits, lease) => {
    const items = hits.map((hit) => toFoundChunk(hit, parts.downloadUrl(hit.record, request)));
    if (!areSmall(items))
      return Promise.resolve({ type: 'stream', items: held(giveOut(items, lease), lease) });
    lease.release();
    // A client that has left by now gets nothing, which makes the operation an error.
    request.signal.throwIfAborted();
    return Promise.resolve({ type: 'whole', items });
  });
}

function findDocuments(
  parts: Dependencies,
  request: RetrievalRequest,
): Promise<AsyncIterable<FoundDocument>> {
  return searchFor(parts, { ...request, per: 'document' }, async (hits, lease) => {
    const found = hits.flatMap(toDocumentHit);
    const bytes = found.length * FOUND_BYTES + longestText(found);
    await lease.exchange({ bytes, signal: request.signal, isSent: false });
    return held(readFoundDocuments(parts, found, request), lease);
  });
}

/** Searches within memory that `give` passes on with what it makes of the hits. It is released here if that fails. */
async function searchFor<Given>(
  { search, memory }: Dependencies,
  request: SearchRequest & { readonly signal: AbortSignal },
  give: (hits: readonly Hit[], lease: Lease) => Promise<Given>,
): Promise<Given> {
  const lease = await memory.reserve(hitsWanted(request));
  try {
    return await give(await searchWithinMemory(search, request, lease), lease);
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** Holds memory until the last item was taken or the reader has left. */
function held<Item>(items: AsyncIterable<Item>, lease: Lease): AsyncIterable<Item> {
  return onStreamEnd(items, () => {
    lease.release();
    return Promise.resolve();
  });
}

/** Memory for a found document before its text is read. */
const FOUND_BYTES = 600;

/** Memory for the longest text: its bytes, its decoded form, and its serialized form. There is one at a time. */
function longestText(found: readonly DocumentHit[]): number {
  const sizes = found.map(({ published: { kind, sizeBytes } }) => (kind === 'text' ? sizeBytes : 0));
  return 4 * Math.min(MAX_HELD_BYTES, Math.max(0, ...sizes));
}

export function searchMetadata({
  query,
  k,
  minScore,
  ranking,
}: Pick<RetrievalRequest, 'query' | 'k' | 'minScore' | 'ranking'>): Metadata {
  return { query, k, min_score: minScore, ...(ranking === undefined ? {} : { ranking }) };
}

function toDocumentHit({ record: { id, published }, score }: Hit): DocumentHit[] {
  return published ? [{ id, published, score }] : [];
}
