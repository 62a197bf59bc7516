import type { Metadata } from '../../shared/document.js';
import type { Ranking } from '../../shared/ranking.js';
import type { Records } from '../../shared/records.js';
import type { Hit, Search } from '../../shared/search.js';
import type { Filter } from '../../shared/filters.js';
import type { Accounting } from './accounting.js';
import type { AnswerMemory, Lease, Wanted } from './answer-memory.js';
import type { DownloadUrl } from './downloads.js';
import { giveOut, toChunkResult } from './found-chunks.js';
import { readFoundDocuments, type FoundDocument } from './found-documents.js';
import { LONGEST_HELD_BYTES, type SourceTexts } from './source-text.js';
import { onStreamEnd } from './stream-end.js';

/** A validated search, and who asks it. */
export interface RetrievalRequest {
  readonly callerId: string;
  readonly baseUrl: string;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly query: string;
  readonly filter: Filter | null;
  readonly k: number;
  readonly minScore: number;
  /** Absent: what the settings say. */
  readonly ranking: Ranking | undefined;
}

export type Retrieval = ReturnType<typeof createRetrieval>;

export function createRetrieval(parts: {
  readonly search: Search;
  readonly accounting: Accounting;
  readonly memory: AnswerMemory;
  readonly records: Records;
  readonly texts: SourceTexts;
  readonly countTokens: (text: string) => number;
  readonly downloadUrl: DownloadUrl;
}) {
  const { search, accounting, memory, countTokens, downloadUrl } = parts;

  /** What is found, with the memory that it holds until the last of it is sent or its reader has left. */
  const answer = async (
    request: RetrievalRequest,
    { operation, per }: { operation: 'retrieve_chunks' | 'retrieve_docs'; per: 'chunk' | 'document' },
    give: (hits: readonly Hit[], lease: Lease) => AsyncIterable<unknown>,
  ): Promise<AsyncIterable<unknown>> => {
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
        return onStreamEnd(give(await search({ ...request, per }), lease), release);
      } catch (error) {
        lease.release();
        throw error;
      }
    });
    return accounting.list(accounted, items, tokens);
  };

  return {
    /** Chunks as their records were when the search ended, given out one by one. */
    chunks: (request: RetrievalRequest) =>
      answer(request, { operation: 'retrieve_chunks', per: 'chunk' }, (hits, lease) => {
        const results = hits.map((hit) => toChunkResult(hit, downloadUrl(hit.record, request)));
        return giveOut(results, lease);
      }),

    /** Documents with their whole text are read and given out one by one. */
    documents: (request: RetrievalRequest) =>
      answer(request, { operation: 'retrieve_docs', per: 'document' }, (hits, lease) => {
        const found = hits.flatMap(toFound);
        lease.resize(found.length * FOUND_BYTES + HELD_TEXT_BYTES);
        return readFoundDocuments(parts, found, request);
      }),
  };
}

/** What a hit may hold, before it is known: more than most, less than the most that metadata may be. */
const HIT_BYTES = 16 * 1024;
const FOUND_BYTES = 600;
/** A text as it was read, decoded, and on its way out. */
const HELD_TEXT_BYTES = 4 * LONGEST_HELD_BYTES;

export const hitsWanted = ({ callerId, k, signal }: RetrievalRequest): Wanted => ({
  ...{ callerId, signal },
  bytes: k * HIT_BYTES,
});

export function searchMetadata({
  query,
  k,
  minScore,
  ranking,
}: Pick<RetrievalRequest, 'query' | 'k' | 'minScore' | 'ranking'>): Metadata {
  return { query, k, min_score: minScore, ...(ranking === undefined ? {} : { ranking }) };
}

function toFound({ record: { id, published }, score }: Hit): FoundDocument[] {
  return published ? [{ id, published, score }] : [];
}
