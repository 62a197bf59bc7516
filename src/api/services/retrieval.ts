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

  const accounted = (
    { callerId: userId, startedAtMs, signal, ...asked }: RetrievalRequest,
    operation: 'retrieve_chunks' | 'retrieve_docs',
  ) => ({ operation, userId, startedAtMs, signal, metadata: searchMetadata(asked) });

  /** The lease is for the hits: whoever has it releases it. */
  const find = async (request: RetrievalRequest, per: 'chunk' | 'document') => {
    const lease = await memory.reserve(hitsWanted(request));
    try {
      return { hits: await search({ ...request, per }), lease };
    } catch (error) {
      lease.release();
      throw error;
    }
  };

  const answer = (
    operation: ReturnType<typeof accounted>,
    items: AsyncIterable<unknown>,
    { lease, query }: { lease: Lease; query: string },
  ) => {
    const released = onStreamEnd(items, () => {
      lease.release();
      return Promise.resolve();
    });
    return accounting.list(operation, released, countTokens(query));
  };

  return {
    /** Chunks as their records were when the search ended, given out one by one. */
    chunks: async (request: RetrievalRequest): Promise<AsyncIterable<unknown>> => {
      const operation = accounted(request, 'retrieve_chunks');
      const { hits, lease } = await accounting.begin(operation, () => find(request, 'chunk'));
      const results = hits.map((hit) => toChunkResult(hit, downloadUrl(hit.record, request)));
      return answer(operation, giveOut(results, lease), { lease, query: request.query });
    },

    /** Documents with their whole text are read and given out one by one. */
    documents: async (request: RetrievalRequest): Promise<AsyncIterable<unknown>> => {
      const operation = accounted(request, 'retrieve_docs');
      const { hits, lease } = await accounting.begin(operation, () => find(request, 'document'));
      const found = hits.flatMap(toFound);
      lease.resize(found.length * FOUND_BYTES + HELD_TEXT_BYTES);
      return answer(operation, readFoundDocuments(parts, found, request), { lease, query: request.query });
    },
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
