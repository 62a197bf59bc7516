import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { unpackReceipt } from '../../../src/shared/extraction/stored-receipt.js';
import { createBuiltinEmbedder } from '../../../src/shared/adapters/builtin/embedder.js';
import { createChunks } from '../../../src/shared/chunks/chunks.js';
import { FIRST_VECTORS } from '../../../src/shared/data-set/stored-vectors.js';
import { generationId, type DocumentRecord } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { requeue } from '../../../src/shared/documents/transitions.js';
import {
  createMirrorPreparation,
  tellOfMirror,
} from '../../../src/shared/mirror-preparation/mirror-preparation.js';
import { createEmbedding } from '../../../src/shared/models/embedding.js';
import { createMetricsBuffer } from '../../../src/shared/observability/metrics-buffer.js';
import { createJobs, type Jobs } from '../../../src/shared/queues/jobs.js';
import { bullConnection } from '../../../src/shared/redis/client.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import { createTermStatistics } from '../../../src/shared/term-statistics/term-statistics.js';
import { createEmbedJob } from '../../../src/workers/ingestion/embed-job.js';
import { createFailDocument } from '../../../src/workers/ingestion/fail-document.js';
import { createIngestJob } from '../../../src/workers/ingestion/ingest-job.js';
import { createPrepareMirrors } from '../../../src/workers/ingestion/prepare-mirrors.js';
import { createPublish } from '../../../src/workers/ingestion/publish.js';
import { NotYetError } from '../../../src/workers/not-yet.js';
import { makeDocument } from '../../support/documents.js';
import { rejection } from '../../support/rejection.js';
import { until } from '../../support/until.js';
import { useTestRedis } from '../../support/use-test-redis.js';
import { ENDLESS_ROOM } from '../../support/endless-room.js';

const { url, redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
const { signal } = new AbortController();
const LONG = 3;
const SHARE = 0.5;
let jobs: Jobs;
let document: DocumentRecord;

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
beforeEach(async () => {
  await redis.flushAll();
  await redis.configSet('maxmemory', '0');
  document = makeDocument();
  await records.create(document);
});

/** A worker for whom a document of three chunks is long. `embed` is the job of its only batch, whose texts are there. */
async function ingest(chunkCount: number) {
  const chunks = createChunks(redis);
  const metrics = createMetricsBuffer(redis, { onError: () => undefined });
  const failDocument = createFailDocument({ records, jobs, metrics });
  const made = { texts: 0 };
  const builtin = createEmbedding(createBuiltinEmbedder(), { maxWaitMilliseconds: 0 });
  const embed = createEmbedJob({
    room: ENDLESS_ROOM,
    records,
    chunks,
    metrics,
    failDocument,
    statistics: createTermStatistics(redis),
    embedding: {
      ...builtin,
      embedDocuments: (texts, options) => {
        made.texts += texts.length;
        return builtin.embedDocuments(texts, options);
      },
    },
    prepareMirrors: createPrepareMirrors({
      records,
      mirrors: createMirrorPreparation(redis),
      memory: createMemoryWatch(redis, SHARE),
      fromChunks: LONG,
    }),
    publish: createPublish({ records, jobs, metrics, vectors: FIRST_VECTORS }),
    checkDimensions: () => Promise.resolve(),
  });
  const pieces = Array.from({ length: chunkCount }, (_, n) => ({
    text: `otter ${String(n)}`,
    tokenCount: 2,
    overlap: 0,
  }));
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
  await metrics.close();
  return { made, embed: () => embed({ ...fence, batch: 0, batches: 1 }, { signal }) };
}

const read = () => records.read(document.id);

test('a long document is published once every mirror has loaded it, and is embedded once', async () => {
  await tellOfMirror(redis, 'mirror', []);
  const { embed, made } = await ingest(LONG);
  const generation = generationId(document);
  expect(await rejection(embed())).toBeInstanceOf(NotYetError);
  expect(await rejection(embed())).toBeInstanceOf(NotYetError);
  expect(await read()).toMatchObject({
    status: 'processing',
    stage: 'publishing',
    published: null,
    prepared: { generation, chunkCount: LONG },
  });
  await tellOfMirror(redis, 'mirror', [generation]);
  expect(await embed()).toBe('published');
  expect(await read()).toMatchObject({ status: 'completed', published: { generation }, prepared: null });
  expect(made.texts).toBe(LONG);
});

test('a shorter document waits for no mirror, and a long one waits for none where there is none', async () => {
  const { embed } = await ingest(LONG);
  expect(await embed()).toBe('published');
  document = makeDocument();
  await records.create(document);
  await tellOfMirror(redis, 'mirror', []);
  const shorter = await ingest(LONG - 1);
  expect(await shorter.embed()).toBe('published');
});

test('an attempt that is over by then is not published, and nothing of it stays prepared', async () => {
  await tellOfMirror(redis, 'mirror', []);
  const { embed } = await ingest(LONG);
  expect(await rejection(embed())).toBeInstanceOf(NotYetError);
  await records.update(document.id, requeue);
  expect(await embed()).toBe('stale');
  expect(await read()).toMatchObject({ status: 'queued', prepared: null, published: null });
});

describe('while Redis is nearly short of memory', () => {
  /** Makes what is used 95 % of the share. */
  const fill = async () => {
    const { used } = await createMemoryWatch(redis, SHARE).state();
    await redis.configSet('maxmemory', String(Math.floor(used / 0.95 / SHARE)));
  };

  test('a long document is published without mirrors being told', async () => {
    await tellOfMirror(redis, 'mirror', []);
    const { embed } = await ingest(LONG);
    await fill();
    expect(await embed()).toBe('published');
    expect(await read()).toMatchObject({ status: 'completed', prepared: null });
  });

  test('mirrors that load are not waited for any longer', async () => {
    await tellOfMirror(redis, 'mirror', []);
    const { embed } = await ingest(LONG);
    expect(await rejection(embed())).toBeInstanceOf(NotYetError);
    await fill();
    // The mirror lives on, and the time for which it is waited for has not passed.
    await until(async () => {
      await tellOfMirror(redis, 'mirror', []);
      return (await embed().catch(rethrowUnlessNotYet)) === 'published';
    }, 20);
    expect(await read()).toMatchObject({ status: 'completed', prepared: null });
  });
});

/** What is known of the memory is a moment old. */
function rethrowUnlessNotYet(error: unknown): void {
  if (!(error instanceof NotYetError)) throw error;
}
