import type { Metadata } from '../../shared/document.js';
import type { Ranking } from '../../shared/ranking.js';
import type { Records } from '../../shared/records.js';
import type { Hit, Search } from '../../shared/search.js';
import type { Filter } from '../../shared/filters.js';
import type { Accounting } from './accounting.js';
import type { DownloadUrl } from './downloads.js';
import { readFoundDocuments, type FoundDocument } from './found-documents.js';
import type { SourceTexts } from './source-text.js';

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
  readonly records: Records;
  readonly texts: SourceTexts;
  readonly countTokens: (text: string) => number;
  readonly downloadUrl: DownloadUrl;
}) {
  const { search, accounting, countTokens, downloadUrl } = parts;

  const accounted = (
    { callerId: userId, startedAtMs, signal, ...asked }: RetrievalRequest,
    operation: 'retrieve_chunks' | 'retrieve_docs',
  ) => ({ operation, userId, startedAtMs, signal, metadata: searchMetadata(asked) });

  return {
    chunks: async (request: RetrievalRequest) => {
      const hits = await accounting.run(accounted(request, 'retrieve_chunks'), async () => ({
        result: await search({ ...request, per: 'chunk' }),
        tokens: countTokens(request.query),
      }));
      return hits.map((hit) => toChunkResult(hit, downloadUrl(hit.record, request)));
    },

    /** Documents with their whole text are read and given out one by one. */
    documents: async (request: RetrievalRequest): Promise<AsyncIterable<unknown>> => {
      const operation = accounted(request, 'retrieve_docs');
      const hits = await accounting.begin(operation, () => search({ ...request, per: 'document' }));
      const documents = readFoundDocuments(parts, hits.flatMap(toFound), request);
      return accounting.list(operation, documents, countTokens(request.query));
    },
  };
}

export function searchMetadata({
  query,
  k,
  minScore,
  ranking,
}: Pick<RetrievalRequest, 'query' | 'k' | 'minScore' | 'ranking'>): Metadata {
  return { query, k, min_score: minScore, ...(ranking === undefined ? {} : { ranking }) };
}

function toChunkResult({ record, number, content, score }: Hit, url: string | null) {
  const published = record.published;
  return {
    content,
    score,
    document_id: record.id,
    chunk_number: number,
    metadata: record.metadata,
    content_type: published?.contentType ?? '',
    filename: published?.kind === 'file' ? published.filename : null,
    download_url: url,
  };
}

function toFound({ record: { id, published }, score }: Hit): FoundDocument[] {
  return published ? [{ id, published, score }] : [];
}
