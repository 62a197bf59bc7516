import type { Principal } from '../../../shared/access/access.js';
import type { Shared } from '../../../shared/access/sharing.js';
import type { Whereabouts } from '../../../shared/chunks/fields.js';
import { shownContent, type Metadata } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Ranking } from '../../../shared/search/ranking.js';
import type { Explanation } from '../../../shared/search/explain-hits.js';
import type { Hit, Match, SearchRequest } from '../../../shared/search/request.js';
import type { RerankReport, RerankWish } from '../../../shared/search/reranked-search.js';
import type { TextSpan } from '../../../shared/text/sentences.js';
import { heldSize, type AnswerMemory, type MemoryLease } from '../answer-memory/answer-memory.js';
import type { DownloadUrl } from '../documents/downloads.js';
import { MAX_HELD_BYTES, type SourceTexts } from '../documents/source-text.js';
import { held } from '../stream-end.js';
import { pageUrlOf, viewUrlOf } from './sources.js';
import { withRerank, type AccountedRequest, type Accounting } from '../usage-accounting.js';
import {
  findHits,
  hitsWanted,
  explainHits,
  type Explained,
  type DetailsWish,
  type FindHitsParts,
  type SearchResult,
} from './find-hits.js';
import { readFoundDocuments, type DocumentHit, type FoundDocument } from './found-documents.js';

/** A validated search and its caller. */
export interface RetrievalRequest extends DetailsWish {
  readonly principal: Principal;
  readonly baseUrl: string;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  /** Null where the filter alone says which documents are found: the newest come first. */
  readonly query: string | null;
  readonly filter: Filter | null;
  /** The documents of others that are found. Undefined when the setting applies. */
  readonly shared?: Shared | undefined;
  /** The collection that is searched. Undefined for all documents. */
  readonly collection?: string | undefined;
  readonly k: number;
  readonly minScore: number;
  /** Undefined when the ranking of the settings applies. */
  readonly ranking: Ranking | undefined;
  /** Null when hits are to stay in their first order. */
  readonly rerank: RerankWish | null;
}

/** The report of a search beside its results. */
export interface SearchReport extends WithRerank {
  /** The milliseconds that its steps took; null where nobody asked for explanations. */
  readonly times: Explained['times'];
}

/** The items that a search found: all at once where they are small, and else one by one. */
export type FoundItems<Item> = SearchReport &
  (
    | { readonly type: 'whole'; readonly items: readonly Item[] }
    | { readonly type: 'stream'; readonly items: AsyncIterable<Item> }
  );

export interface WithRerank {
  /** The report of reranking; null where it was not asked for. */
  readonly rerank: RerankReport | null;
}

type FoundDocuments = SearchReport & { readonly items: AsyncIterable<FoundDocument> };

export interface Retrieval {
  /** Finds chunks, with their records as of the end of the search. */
  chunks(request: RetrievalRequest): Promise<FoundItems<FoundChunk>>;
  /** Finds documents. They are read with their whole text and yielded one by one. */
  documents(request: RetrievalRequest): Promise<FoundDocuments>;
}

interface Dependencies extends FindHitsParts {
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
      const tokens = request.query === null ? 0 : parts.countTokens(request.query);
      const found = await accounting.begin(accounted, () => findChunks(parts, request));
      const counted = withRerank(accounted, tokens, found.rerank);
      if (found.type === 'stream')
        return { ...found, items: accounting.list(counted.request, found.items, counted.tokens) };
      await accounting.succeed(counted.request, counted.tokens);
      return found;
    },
    documents: async (request) => {
      const accounted = accountedSearch('retrieve_docs', request);
      const tokens = request.query === null ? 0 : parts.countTokens(request.query);
      const found = await accounting.begin(accounted, () => findDocuments(parts, request));
      const counted = withRerank(accounted, tokens, found.rerank);
      return { ...found, items: accounting.list(counted.request, found.items, counted.tokens) };
    },
  };
}

function accountedSearch(
  operation: 'retrieve_chunks' | 'retrieve_docs',
  request: RetrievalRequest,
): AccountedRequest {
  const { principal, startedAtMs, signal } = request;
  return { operation, userId: principal.id, startedAtMs, signal, metadata: searchMetadata(request) };
}

/** Few chunks hold no memory any more: less of them is sent at once than a connection may hold unsent. */
function findChunks(parts: Dependencies, request: RetrievalRequest): Promise<FoundItems<FoundChunk>> {
  return searchFor<FoundItems<FoundChunk>>(parts, { ...request, per: 'chunk' }, async (found, lease) => {
    const { hits, rerank } = found;
    const explained = await explainHits(parts, found, request);
    const items = hits.map((hit, i) =>
      toFoundChunk(hit, {
        baseUrl: request.baseUrl,
        downloadUrl: parts.downloadUrl(hit.record, request),
        highlights: found.highlights?.[i],
        explanation: explained.explanations?.[i],
      }),
    );
    const report = { rerank, times: explained.times };
    if (!areSmall(items)) return { ...report, type: 'stream', items: held(giveOut(items, lease), lease) };
    lease.release();
    // A client that has left by now gets nothing, which makes the operation an error.
    request.signal.throwIfAborted();
    return { ...report, type: 'whole', items };
  });
}

/** The fields of a result that only those get who ask for them. */
interface HitFields {
  readonly highlights?: readonly TextSpan[] | undefined;
  /** The hits that a widened result was joined of. */
  readonly matches?: readonly Match[] | undefined;
  readonly explanation?: Explanation | null | undefined;
}

function findDocuments(parts: Dependencies, request: RetrievalRequest): Promise<FoundDocuments> {
  return searchFor(parts, { ...request, per: 'document' }, async (result, lease) => {
    const { hits, rerank, filter } = result;
    const explained = await explainHits(parts, result, request);
    const found = hits.flatMap((hit, i) =>
      toDocumentHit(hit, { highlights: result.highlights?.[i], explanation: explained.explanations?.[i] }),
    );
    const bytes = found.reduce((sum, each) => sum + FOUND_BYTES + sizeOfBest(each), longestText(found));
    await lease.exchange({ bytes, signal: request.signal, isSent: false });
    const items = held(readFoundDocuments(parts, found, { ...request, filter }), lease);
    return { rerank, times: explained.times, items };
  });
}

/**
 * Searches within memory that `give` passes on with the result that it makes of the hits. It is released here if that
 * fails.
 */
async function searchFor<Given>(
  parts: Dependencies,
  request: RetrievalRequest & Pick<SearchRequest, 'per'>,
  give: (found: SearchResult, lease: MemoryLease) => Promise<Given>,
): Promise<Given> {
  const lease = await parts.memory.reserve(hitsWanted(parts, request));
  try {
    return await give(await findHits(parts, request, lease), lease);
  } catch (error) {
    lease.release();
    throw error;
  }
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
  shared,
}: Pick<RetrievalRequest, 'query' | 'k' | 'minScore' | 'ranking' | 'shared'>): Metadata {
  const stated = { ...(ranking && { ranking }), ...(shared && { shared }) };
  return { ...(query !== null && { query }), k, min_score: minScore, ...stated };
}

function toDocumentHit(
  { record, number: chunkNumber, content, score }: Hit,
  { highlights, explanation }: HitFields,
): DocumentHit[] {
  const { id, published } = record;
  if (!published) return [];
  const bestChunk = highlights && { chunkNumber, content, highlights };
  return [{ id, published, chunkNumber, score, bestChunk, explanation }];
}

const sizeOfBest = ({ bestChunk, explanation }: DocumentHit): number =>
  (bestChunk ? heldSize(bestChunk) : 0) + sizeWhereAsked(explanation);

/** Memory for the fields of a chunk besides its text: names, numbers, its download address. */
const CHUNK_BYTES = 500;

export interface FoundChunk extends Omit<Whereabouts, 'spots'>, HitFields {
  readonly content: string;
  readonly score: number;
  readonly documentId: string;
  readonly owner: string;
  readonly chunkNumber: number;
  readonly metadata: Metadata;
  readonly contentType: string;
  /** Null for a text, like the download address. */
  readonly filename: string | null;
  readonly downloadUrl: string | null;
  /** The address of the page for people that shows it. */
  readonly url: string;
  /** The address of its page with the passage marked; null where the file has no pages. */
  readonly pageUrl: string | null;
}

/** Keeps the fields of a hit that a response needs, and not its record, whose access lists may be long. */
function toFoundChunk(
  hit: Hit,
  told: Pick<RetrievalRequest, 'baseUrl'> & Pick<FoundChunk, 'downloadUrl' | 'highlights' | 'explanation'>,
): FoundChunk {
  const { record, number, content, location, section, score } = hit;
  const { contentType, kind, filename } = shownContent(record);
  const place = { documentId: record.id, chunkNumber: number, location };
  const { baseUrl, downloadUrl, highlights, explanation } = told;
  return {
    content,
    score,
    documentId: record.id,
    owner: record.ownerId,
    location,
    section,
    chunkNumber: number,
    metadata: record.metadata,
    contentType,
    filename: kind === 'file' ? filename : null,
    downloadUrl,
    url: viewUrlOf(place, { baseUrl }),
    pageUrl: pageUrlOf(place, { baseUrl }),
    highlights,
    matches: hit.widened?.matches,
    explanation,
  };
}

/** Chunks up to this size, as they are sent, are serialized and sent at once, which takes some tenths of a millisecond. */
const MAX_BYTES_AT_ONCE = 128 * 1024;

/**
 * Tells whether the chunks are so small together that they are sent at once. Each is sent with the metadata of its
 * document.
 */
function areSmall(results: readonly FoundChunk[]): boolean {
  let bytes = 0;
  for (const result of results) {
    bytes += ownSize(result) + heldSize(result.metadata);
    if (bytes > MAX_BYTES_AT_ONCE) return false;
  }
  return true;
}

const ownSize = (chunk: FoundChunk): number =>
  CHUNK_BYTES +
  heldSize(chunk.content) +
  heldSize(chunk.location) +
  heldSize(chunk.section) +
  sizeWhereAsked(chunk.highlights) +
  sizeWhereAsked(chunk.matches) +
  sizeWhereAsked(chunk.explanation);

const sizeWhereAsked = (value: HitFields[keyof HitFields]): number => (value ? heldSize(value) : 0);

/** Yields results one by one, and releases the memory of each. */
async function* giveOut(results: FoundChunk[], lease: MemoryLease): AsyncGenerator<FoundChunk> {
  const sizes = sizesOf(results);
  let held = sizes.reduce((sum, size) => sum + size, 0);
  lease.resize(held);
  results.reverse();
  for (const size of sizes) {
    const result = results.pop();
    if (!result) return;
    yield await Promise.resolve(result);
    held -= size;
    lease.resize(held);
  }
}

/** All chunks of a document share its metadata, which counts with the last of them. */
function sizesOf(results: readonly FoundChunk[]): number[] {
  const last = new Map(results.map(({ metadata }, i) => [metadata, i]));
  return results.map(
    (result, i) => ownSize(result) + (last.get(result.metadata) === i ? heldSize(result.metadata) : 0),
  );
}
