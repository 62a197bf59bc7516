import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import type { ChunkText } from '../../src/shared/chunks/fields.js';
import { FIRST_VECTORS } from '../../src/shared/data-set/stored-vectors.js';
import type { DocumentRecord } from '../../src/shared/document.js';
import { createRecords, type Records } from '../../src/shared/documents/records.js';
import { createEmbedding, type Embedding } from '../../src/shared/models/embedding.js';
import type { WorkerMetrics } from '../../src/shared/observability/worker-metrics.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { createFailDocument } from '../../src/workers/ingestion/fail-document.js';
import { createIngestShort } from '../../src/workers/ingestion/ingest-short.js';
import { createPublish } from '../../src/workers/ingestion/publish.js';
import { useJobs } from './use-jobs.js';

const { signal } = new AbortController();
const builtin = createEmbedding(createBuiltinEmbedder(), { maxWaitMilliseconds: 0 });

interface Options {
  readonly records?: Records;
  readonly embedding?: Embedding;
  readonly metrics?: WorkerMetrics;
}

/** A worker that ingests short texts in one job, on the Redis of `useTestRedis`. */
export function useShortIngest(server: { readonly url: string; readonly redis: Redis }) {
  const jobs = useJobs(server);
  /** Ingests a document, as it was read, of the chunks that `readText` makes. */
  return (document: DocumentRecord, readText: () => Promise<readonly ChunkText[]>, options: Options = {}) => {
    const { records = createRecords(server.redis), embedding = builtin } = options;
    const { metrics = { add: () => undefined, observe: () => undefined } } = options;
    const run = createIngestShort({
      records,
      vectors: FIRST_VECTORS,
      requireMemory: () => Promise.resolve(),
      metrics,
      embedding,
      failDocument: createFailDocument({ records, jobs, metrics }),
      publish: createPublish({ records, jobs, metrics, vectors: FIRST_VECTORS }),
      checkDimensions: () => Promise.resolve(),
      readText,
    });
    const { id: documentId, version, attempt } = document;
    return run({ documentId, version, attempt }, document, { signal });
  };
}
