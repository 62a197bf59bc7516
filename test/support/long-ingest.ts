import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import { FIRST_VECTORS } from '../../src/shared/data-set/stored-vectors.js';
import type { DocumentRecord } from '../../src/shared/document.js';
import { createRecords, type Records } from '../../src/shared/documents/records.js';
import { unpackReceipt } from '../../src/shared/chunks/stored-receipt.js';
import { createMirrorPreparation } from '../../src/shared/mirror-preparation/mirror-preparation.js';
import { createEmbedding, type Embedding } from '../../src/shared/models/embedding.js';
import type { WorkerMetrics } from '../../src/shared/observability/worker-metrics.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { createMemoryWatch } from '../../src/shared/redis/memory.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { createEmbedJob } from '../../src/workers/ingestion/embed-job.js';
import { createFailDocument } from '../../src/workers/ingestion/fail-document.js';
import { createIngestJob } from '../../src/workers/ingestion/ingest-job.js';
import { createPrepareMirrors } from '../../src/workers/ingestion/prepare-mirrors.js';
import { createPublish } from '../../src/workers/ingestion/publish.js';
import { ENDLESS_ROOM } from './endless-room.js';
import { useJobs } from './use-jobs.js';

const { signal } = new AbortController();
const unseen = { add: () => undefined, observe: () => undefined };
const builtin = createEmbedding(createBuiltinEmbedder(), { maxWaitMilliseconds: 0 });

interface Options {
  readonly records?: Records;
  readonly embedding?: Embedding;
  readonly metrics?: WorkerMetrics;
  /** The share of the memory of Redis that is used when it is nearly short of it. */
  readonly memoryShare?: number;
  /** From how many chunks on mirrors are told of a document before it is published. */
  readonly mirroredFrom?: number;
}

/** A worker that ingests documents in two jobs, on the Redis of `useTestRedis`. */
export function useLongIngest(server: { readonly url: string; readonly redis: Redis }) {
  const { redis } = server;
  const jobs = useJobs(server);
  const known = createRecords(redis);
  const chunks = createChunks(redis);
  /** Does the first job of a document of these texts. Returns the second one, which embeds them, and how many it has. */
  return async (document: DocumentRecord, texts: readonly string[], options: Options = {}) => {
    const {
      embedding = builtin,
      metrics = unseen,
      memoryShare = 0.5,
      mirroredFrom,
      records = known,
    } = options;
    const failDocument = createFailDocument({ records, jobs, metrics });
    const made = { texts: 0 };
    const pieces = texts.map((text) => ({ text, tokenCount: 4, overlap: 0 }));
    const { id: documentId, version, attempt } = document;
    const fence = { documentId, version, attempt };
    await createIngestJob({
      records,
      chunks,
      jobs,
      failDocument,
      readContent: () => Promise.resolve({ chunks: pieces, receipt: unpackReceipt('{}'), attachments: [] }),
      room: ENDLESS_ROOM,
      attachments: null,
    })(fence, { requestId: 'r', signal });
    const embed = createEmbedJob({
      room: ENDLESS_ROOM,
      records,
      chunks,
      metrics,
      failDocument,
      statistics: createTermStatistics(redis),
      embedding: {
        ...embedding,
        embedDocuments: (measured, call) => {
          made.texts += measured.length;
          return embedding.embedDocuments(measured, call);
        },
      },
      prepareMirrors: createPrepareMirrors({
        records,
        mirrors: createMirrorPreparation(redis),
        memory: createMemoryWatch(redis, memoryShare),
        ...(mirroredFrom === undefined ? {} : { fromChunks: mirroredFrom }),
      }),
      publish: createPublish({ records, jobs, metrics, vectors: FIRST_VECTORS }),
      checkDimensions: () => Promise.resolve(),
    });
    return { made, embed: () => embed({ ...fence, batch: 0, batches: 1 }, { signal }) };
  };
}
