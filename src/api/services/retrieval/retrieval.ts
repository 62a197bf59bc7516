import type { Metadata } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Ranking } from '../../../shared/search/ranking.js';
import type { Hit } from '../../../shared/search/hit.js';
import type { Search } from '../../../shared/search/search.js';
import type { Accounting } from '../usage-accounting.js';
import type { DownloadUrl } from '../documents/downloads.js';
import { MAX_HELD_BYTES, type SourceTexts } from '../documents/source-text.js';
import type { AnswerMemory, Lease } from '../answer-memory/answer-memory.js';
import { giveOut, toFoundChunk, type FoundChunk } from './found-chunks.js';
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

export interface Retrieval {
  /** Finds chunks. They are yielded one by one, with their records as of the end of the search. */
  chunks(request: RetrievalRequest): Promise<AsyncIterable<FoundChunk>>;
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
  const { downloadUrl } = parts;
  return {
    chunks: (request) =>
      answer(parts, request, {
        operation: 'retrieve_chunks',
        per: 'chunk',
        give: (hits, lease) => {
          const found = hits.map((hit) => toFoundChunk(hit, downloadUrl(hit.record, request)));
          return Promise.resolve(giveOut(found, lease));
        },
      }),
    documents: (request) =>
      answer(parts, request, {
        operation: 'retrieve_docs',
        per: 'document',
        give: async (hits, lease) => {
          const found = hits.flatMap(toDocumentHit);
          const bytes = found.length * FOUND_BYTES + longestText(found);
          await lease.exchange({ bytes, signal: request.signal, isSent: false });
          return readFoundDocuments(parts, found, request);
        },
      }),
  };
}

interface Kind<Item> {
  readonly operation: 'retrieve_chunks' | 'retrieve_docs';
  readonly per: 'chunk' | 'document';
  readonly give: (hits: readonly Hit[], lease: Lease) => Promise<AsyncIterable<Item>>;
}

/** Searches, and holds memory for the results until the last of them is sent or the client has left. */
async function answer<Item>(
  { search, accounting, memory, countTokens }: Dependencies,
  request: RetrievalRequest,
  { operation, per, give }: Kind<Item>,
): Promise<AsyncIterable<Item>> {
  const { callerId: userId, startedAtMs, signal } = request;
  const accounted = { operation, userId, startedAtMs, signal, metadata: searchMetadata(request) };
  const tokens = countTokens(request.query);
  const items = await accounting.begin(accounted, async () => {
    const lease = await memory.reserve(hitsWanted(request));
    const release = () => {
      lease.release();
      return Promise.resolve();
    };
    try {
      const hits = await searchWithinMemory(search, { ...request, per }, lease);
      return onStreamEnd(await give(hits, lease), release);
    } catch (error) {
      lease.release();
      throw error;
    }
  });
  return accounting.list(accounted, items, tokens);
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
