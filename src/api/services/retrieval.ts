import type { Metadata } from '../../shared/document.js';
import type { ObjectStorage } from '../../shared/ports.js';
import type { Records } from '../../shared/records.js';
import type { Hit, Search } from '../../shared/search.js';
import type { Filter } from '../../shared/filters.js';
import { canRead } from '../../shared/access.js';
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
}: {
  query: string;
  k: number;
  minScore: number;
}): Metadata {
  return { query, k, min_score: minScore };
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

async function* documentResults(
  {
    records,
    storage,
    downloadUrl,
  }: Pick<Parameters<typeof createRetrieval>[0], 'records' | 'storage' | 'downloadUrl'>,
  hits: readonly Hit[],
  request: RetrievalRequest,
): AsyncIterable<unknown> {
  for (const { record, score } of hits) {
    const { published } = record;
    if (!published) continue;
    const common = { score, document_id: record.id, metadata: record.metadata, additional_metadata: {} };
    if (published.kind === 'file') {
      const value = downloadUrl(record, request) ?? '';
      yield { ...common, content: { type: 'url', value, filename: published.filename } };
      continue;
    }
    const value = await readText(storage, published.storageKey);
    // Earlier documents may have taken a while to send: what was revoked or replaced meanwhile is not shown.
    const current = await records.read(record.id);
    if (!current || !canRead(request.callerId, current) || current.published?.version !== published.version)
      continue;
    yield { ...common, content: { type: 'string', value, filename: null } };
  }
}

async function readText(storage: ObjectStorage, key: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of await storage.open(key)) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
