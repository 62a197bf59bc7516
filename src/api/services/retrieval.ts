import type { MatchableDocument, Metadata } from '../../shared/document.js';
import { matches } from '../../shared/filter-match.js';
import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import type { Ranking } from '../../shared/ranking.js';
import type { Records } from '../../shared/records.js';
import type { Hit, Search } from '../../shared/search.js';
import type { Filter } from '../../shared/filters.js';
import type { Accounting } from './accounting.js';
import type { DownloadUrl } from './downloads.js';

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
  readonly storage: ObjectStorage;
  readonly countTokens: (text: string) => number;
  readonly downloadUrl: DownloadUrl;
}) {
  const { search, accounting, countTokens, downloadUrl } = parts;

  const account = (
    request: RetrievalRequest,
    operation: 'retrieve_chunks' | 'retrieve_docs',
    per: 'chunk' | 'document',
  ) =>
    accounting.run(
      {
        operation,
        userId: request.callerId,
        startedAtMs: request.startedAtMs,
        metadata: searchMetadata(request),
      },
      async () => ({ result: await search({ ...request, per }), tokens: countTokens(request.query) }),
    );

  return {
    chunks: async (request: RetrievalRequest) => {
      const hits = await account(request, 'retrieve_chunks', 'chunk');
      return hits.map((hit) => toChunkResult(hit, downloadUrl(hit.record, request)));
    },

    /** Documents with their whole text are read and given out one by one. */
    documents: async (request: RetrievalRequest): Promise<AsyncIterable<unknown>> => {
      const hits = await account(request, 'retrieve_docs', 'document');
      return documentResults(parts, hits, request);
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

type DocumentParts = Pick<Parameters<typeof createRetrieval>[0], 'records' | 'storage' | 'downloadUrl'>;

async function* documentResults(
  parts: DocumentParts,
  hits: readonly Hit[],
  request: RetrievalRequest,
): AsyncIterable<unknown> {
  for (const { record: found, score } of hits) {
    const shown = await readCurrent(parts, found, request);
    if (!shown) continue;
    const { record, content } = shown;
    yield { score, document_id: record.id, metadata: record.metadata, content, additional_metadata: {} };
  }
}

/**
 * A found document as it now is; null when it is gone, closed or no match any more. Earlier documents may have taken a
 * while to send, and what is replaced while it is read is read again.
 */
async function readCurrent(
  { records, storage, downloadUrl }: DocumentParts,
  found: MatchableDocument,
  request: RetrievalRequest,
) {
  for (let record = found; ;) {
    const { published } = record;
    if (!published) return null;
    const text = published.kind === 'text' ? await readText(storage, published.storageKey) : null;
    const current = await records.read(record.id);
    if (!current || !matches(current, request.callerId, request.filter)) return null;
    const isCurrent = current.published?.storageKey === published.storageKey;
    record = current;
    if (!isCurrent) continue;
    if (published.kind === 'file') {
      const value = downloadUrl(record, request) ?? '';
      return { record, content: { type: 'url', value, filename: published.filename } };
    }
    if (text === null) throw new MissingObjectError(published.storageKey);
    return { record, content: { type: 'string', value: text, filename: null } };
  }
}

/** Null when there is no such object (any more). */
async function readText(storage: ObjectStorage, key: string): Promise<string | null> {
  try {
    const parts: Uint8Array[] = [];
    for await (const part of await storage.open(key)) parts.push(part);
    return Buffer.concat(parts).toString('utf8');
  } catch (error) {
    if (error instanceof MissingObjectError) return null;
    throw error;
  }
}
