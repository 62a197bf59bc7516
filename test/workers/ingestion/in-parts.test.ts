import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createBuiltinEmbedder } from '../../../src/shared/adapters/builtin/embedder.js';
import { createChunks } from '../../../src/shared/chunks/chunks.js';
import { FIRST_VECTORS } from '../../../src/shared/data-set/stored-vectors.js';
import { generationId } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { patch } from '../../../src/shared/documents/transitions.js';
import { unpackReceipt } from '../../../src/shared/extraction/stored-receipt.js';
import { createMirrorPreparation } from '../../../src/shared/mirror-preparation/mirror-preparation.js';
import { createEmbedding } from '../../../src/shared/models/embedding.js';
import { createMetricsBuffer } from '../../../src/shared/observability/metrics-buffer.js';
import { createJobs, type Jobs } from '../../../src/shared/queues/jobs.js';
import { bullConnection } from '../../../src/shared/redis/client.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import { createTermStatistics } from '../../../src/shared/term-statistics/term-statistics.js';
import { createEmbedJob } from '../../../src/workers/ingestion/embed-job.js';
import { embedPieces } from '../../../src/workers/ingestion/embed-pieces.js';
import { createFailDocument } from '../../../src/workers/ingestion/fail-document.js';
import { createIngestJob } from '../../../src/workers/ingestion/ingest-job.js';
import { createPrepareMirrors } from '../../../src/workers/ingestion/prepare-mirrors.js';
import { createPublish } from '../../../src/workers/ingestion/publish.js';
import { makeDocument } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';
import { ENDLESS_ROOM } from '../../support/endless-room.js';

const { url, redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
const chunks = createChunks(redis);
const { signal } = new AbortController();
const builtin = createEmbedding(createBuiltinEmbedder(), { maxWaitMilliseconds: 0 });
/** A model to which every text is too long. */
const embedding: typeof builtin = {
  ...builtin,
  embedDocuments: async (texts, options) => ({
    ...(await builtin.embedDocuments(texts, options)),
    inParts: texts.map(() => true),
  }),
};
const pieces = [{ text: 'An otter swims.', tokenCount: 4, overlap: 0 }];
let jobs: Jobs;

beforeAll(() => {
  jobs = createJobs({
    connection: bullConnection(url, { failFast: false }),
    redis,
    onError: () => undefined,
  });
});
afterAll(async () => {
  await jobs.close();
});

/** Reads a new document, so that only its embedding is left, which is the job that is returned. */
async function ingest() {
  const document = makeDocument();
  await records.create(document);
  const metrics = createMetricsBuffer(redis, { onError: () => undefined });
  const failDocument = createFailDocument({ records, jobs, metrics });
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
    ingestShort: null,
  })(fence, { requestId: 'r', signal });
  const memory = createMemoryWatch(redis, 0.5);
  const embed = createEmbedJob({
    room: ENDLESS_ROOM,
    records,
    chunks,
    metrics,
    failDocument,
    statistics: createTermStatistics(redis),
    embedding,
    prepareMirrors: createPrepareMirrors({ records, mirrors: createMirrorPreparation(redis), memory }),
    publish: createPublish({ records, jobs, metrics, vectors: FIRST_VECTORS }),
    checkDimensions: () => Promise.resolve(),
  });
  return {
    document,
    embed: async () => {
      const outcome = await embed({ ...fence, batch: 0, batches: 1 }, { signal });
      await metrics.close();
      return outcome;
    },
  };
}

test('a document whose passages were embedded in parts is published, and its receipt says so', async () => {
  const { document, embed } = await ingest();
  expect(await embed()).toBe('published');
  const record = await records.read(document.id);
  expect(record).toMatchObject({ status: 'completed', published: { gaps: 1 } });
  const receipt = await chunks.receipt(generationId(document));
  expect(receipt?.gaps).toMatchObject([{ reason: 'limit' }]);
});

test('so is one that was changed meanwhile', async () => {
  const { document, embed } = await ingest();
  await records.update(document.id, (each) => patch(each, { metadata: { a: 1 }, filename: 'otter.txt' }));
  expect(await embed()).toBe('published');
  expect(await records.read(document.id)).toMatchObject({ published: { gaps: 1, filename: 'otter.txt' } });
});

test('a short text that was embedded in parts is left to a job of its own, which writes a receipt', async () => {
  const parts = { embedding, metrics: { add: () => undefined }, checkDimensions: () => Promise.resolve() };
  expect(await embedPieces(parts, pieces, signal)).toBeNull();
  expect(await embedPieces({ ...parts, embedding: builtin }, pieces, signal)).toHaveLength(1);
});
