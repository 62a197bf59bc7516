import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { unpackReceipt } from '../../src/shared/chunks/stored-receipt.js';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import { FIRST_VECTORS } from '../../src/shared/data-set/stored-vectors.js';
import type { DocumentRecord } from '../../src/shared/document.js';
import { documentTags } from '../../src/shared/documents/record-fields.js';
import { createRecords } from '../../src/shared/documents/records.js';
import {
  patch,
  publish,
  replaceContent,
  requeue,
  type Fence,
} from '../../src/shared/documents/transitions.js';
import { createMirrorPreparation } from '../../src/shared/mirror-preparation/mirror-preparation.js';
import { createEmbedding } from '../../src/shared/models/embedding.js';
import { createMetricsBuffer } from '../../src/shared/observability/worker-metrics.js';
import type { Jobs } from '../../src/shared/queues/jobs.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createMemoryWatch } from '../../src/shared/redis/memory.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { createEmbedJob } from '../../src/workers/ingestion/embed-job.js';
import { createFailDocument } from '../../src/workers/ingestion/fail-document.js';
import { createIngestJob } from '../../src/workers/ingestion/ingest-job.js';
import { createPrepareMirrors } from '../../src/workers/ingestion/prepare-mirrors.js';
import { createPublish } from '../../src/workers/ingestion/publish.js';
import { createCleanJob } from '../../src/workers/maintenance/clean-job.js';
import { createRetagJob } from '../../src/workers/maintenance/retag-job.js';
import { makeDocument, makeOperation } from '../support/documents.js';
import { dying, forgetful } from '../support/dying.js';
import { isAtRest, statisticsDifferences } from '../support/recount-statistics.js';
import { openIngestShort, shortContent } from '../support/text-groups.js';
import { useJobs } from '../support/use-jobs.js';
import { useTestRedis } from '../support/use-test-redis.js';
import { ENDLESS_ROOM } from '../support/endless-room.js';

const { url, redis } = useTestRedis({ failFast: false });
const jobs = useJobs({ url, redis });

const { signal } = new AbortController();

/** Chunks of words that occur nowhere else, so that a batch of 64 is counted in several parts. */
const textsOf = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => ({
    text: Array.from({ length: 80 }, (_word, i) => `${name}${String(n)}x${String(i)}`).join(' '),
    tokenCount: 80,
    overlap: 0,
  }));
type Texts = ReturnType<typeof textsOf>;

/** A worker's jobs, run here, over Redis as `seen`; what they add to queues is kept. */
function openWorker(seen: Redis, texts: Texts, isShort: boolean) {
  const [records, chunks, statistics] = [createRecords(seen), createChunks(seen), createTermStatistics(seen)];
  const metrics = createMetricsBuffer(redis, { onError: () => undefined });
  const embeds: number[] = [];
  const kept: Jobs = {
    ...jobs,
    addCleans: () => Promise.resolve(),
    addEmbeds: (_fence, batches) => Promise.resolve(void embeds.push(...batches)),
  };
  const embedding = createEmbedding(createBuiltinEmbedder(), { maxWaitMilliseconds: 0 });
  const failDocument = createFailDocument({ records, jobs: kept, metrics });
  const common = {
    records,
    chunks,
    statistics,
    embedding,
    failDocument,
    metrics,
    prepareMirrors: createPrepareMirrors({
      records,
      mirrors: createMirrorPreparation(seen),
      memory: createMemoryWatch(seen, 0.85),
    }),
    publish: createPublish({ records, jobs: kept, metrics, vectors: FIRST_VECTORS }),
    checkDimensions: () => Promise.resolve(),
  };
  const ingestShort = openIngestShort(kept, seen, { chunkText: () => Promise.resolve(texts) });
  const ingestLong = createIngestJob({
    records,
    chunks,
    failDocument,
    jobs: kept,
    readContent: () => Promise.resolve({ chunks: texts, receipt: unpackReceipt('{}'), attachments: [] }),
    room: ENDLESS_ROOM,
    attachments: null,
  });
  return {
    records,
    ingest: async (fence: Fence, call: Parameters<typeof ingestLong>[1]) => {
      const done = isShort ? await ingestShort([fence], { signal, inTurn: (run) => run() }) : null;
      return done?.published === 1 ? 'published' : await ingestLong(fence, call);
    },
    embed: createEmbedJob({ ...common, room: ENDLESS_ROOM }),
    clean: createCleanJob({ chunks, statistics }),
    retag: createRetagJob({ records, chunks, statistics }),
    takeEmbeds: () => embeds.splice(0),
    close: () => metrics.close(),
  };
}
type Worker = ReturnType<typeof openWorker>;

const fenceOf = ({ id, version, attempt }: DocumentRecord) => ({ documentId: id, version, attempt });

/** One run of what there is to do; false where nothing was left. */
async function work(worker: Worker, id: string): Promise<boolean> {
  const record = await worker.records.read(id);
  if (record?.pending) {
    if (record.status === 'processing') await worker.records.update(id, requeue);
    const current = (await worker.records.read(id)) ?? record;
    worker.takeEmbeds();
    await worker.ingest(fenceOf(current), { requestId: 'r', signal });
    const batches = worker.takeEmbeds();
    for (const batch of batches)
      await worker.embed({ ...fenceOf(current), batch, batches: batches.length }, { signal });
    return true;
  }
  if (record && record.retag > 0) {
    await worker.retag({ documentId: id, mark: record.retag });
    return true;
  }
  const [stray] = await redis.sDiff([keys.hidden, keys.garbage]);
  if (stray !== undefined) {
    // As the sweeper does.
    await redis.multi().sAdd(keys.garbage, stray).hSet(keys.generation(stray), { discarded: '1' }).exec();
  }
  const [generation] = await redis.sMembers(keys.garbage);
  if (generation === undefined) return false;
  await worker.clean(generation);
  return true;
}

/** Errors that a killed process, or a Redis that has lost data, may throw. */
const PASSING = /a script|are missing|has no vectors|is not counted|came back without/;

/** Works until nothing is left, through `faulty` at first and calmly once it has failed or is done. */
async function finish(faulty: Worker, calm: Worker, id: string): Promise<void> {
  let worker = faulty;
  for (let runs = 0; ; runs += 1) {
    if (runs > 50) throw new Error('there is no end to it');
    try {
      if (!(await work(worker, id))) {
        if (worker === calm) return;
        worker = calm;
      }
    } catch (error) {
      if (!(error instanceof Error) || !PASSING.test(error.message)) throw error;
      worker = calm;
    }
  }
}

/** Nothing is missing, nothing too much. */
async function expectWhole(id: string, texts: Texts): Promise<void> {
  const record = await createRecords(redis).read(id);
  if (!record?.published?.generation) throw new Error('not published');
  expect(record).toMatchObject({ status: 'completed', retag: 0, published: { chunkCount: texts.length } });
  const { generation } = record.published;
  const there = await redis.keys(`${keys.chunkPrefix}*`);
  expect(there.sort()).toEqual(texts.map((_, n) => keys.chunk(generation, n)).sort());
  const tags = documentTags(record);
  for (const [n, { text }] of texts.entries()) {
    const key = keys.chunk(generation, n);
    expect(await redis.hmGet(key, ['content', 'tags'])).toEqual([text, tags]);
    expect(await redis.hExists(key, 'vector')).toBe(1);
  }
  expect(await redis.keys(`${keys.generation('')}*`)).toEqual([keys.generation(generation)]);
  expect(await statisticsDifferences(redis)).toEqual([]);
  expect(await isAtRest(redis)).toBe(true);
}

async function store(): Promise<DocumentRecord> {
  const id = randomUUID();
  const { source, content: pending } = shortContent({ documentId: id, version: 1 }, 'of the test');
  const document = makeDocument({ id, pending });
  await createRecords(redis).create(document, { source });
  return document;
}

function replace({ id, ownerId }: DocumentRecord) {
  const { source, content } = shortContent({ documentId: id, version: 2 }, 'of the test, anew');
  const operation = makeOperation({ userId: ownerId });
  return createRecords(redis).update(id, (each) => ({
    ...replaceContent(each, { content, operation }),
    source,
  }));
}

/** A published document that gets new content, and then loses and gets back its owner as a reader. */
async function live(
  seen: (scripts: number) => Redis,
  { old, texts }: { old: Texts; texts: Texts },
): Promise<string> {
  await redis.flushAll();
  const records = createRecords(redis);
  const document = await store();
  const calmOld = openWorker(redis, old, old.length < 4);
  await finish(calmOld, calmOld, document.id);
  await replace(document);
  const [faulty, calm] = [openWorker(seen(0), texts, texts.length < 4), openWorker(redis, texts, false)];
  await finish(faulty, calm, document.id);
  for (const readers of [['eve'], [document.ownerId]]) {
    const lists = { readers, writers: ['eve'], admins: ['eve'] };
    await records.update(document.id, (each) => patch(each, lists));
    await finish(openWorker(seen(0), texts, false), calm, document.id);
  }
  await calm.close();
  return document.id;
}

describe.each([
  ['a long text', { old: textsOf(70, 'a'), texts: textsOf(130, 'b') }],
  ['a short text', { old: textsOf(2, 'a'), texts: textsOf(3, 'b') }],
])('%s', (_name, contents) => {
  test('that is replaced and re-tagged is whole and counted once, wherever its worker dies', async () => {
    const isLong = contents.texts.length > 4;
    for (let at = 1; at < (isLong ? 75 : 12); at += isLong ? 4 : 1) {
      let scripts = 0;
      const id = await live(() => dying(redis, () => (scripts += 1) % at === at - 1), contents);
      await expectWhole(id, contents.texts);
    }
  }, 300_000);

  test('that is replaced and re-tagged is whole and counted once, whatever Redis loses meanwhile', async () => {
    const isLong = contents.texts.length > 4;
    for (let at = 2; at < (isLong ? 75 : 12); at += isLong ? 4 : 1) {
      const lost = Math.min(at - 1, 1 + (at % 7));
      const id = await live(() => forgetful(redis, { from: at - lost, to: at }), contents);
      await expectWhole(id, contents.texts);
    }
  }, 300_000);
});

test('what was made of a version that Redis has forgotten does not meet other content of that number', async () => {
  await redis.flushAll();
  const records = createRecords(redis);
  const document = await store();
  const worker = openWorker(redis, textsOf(3, 'a'), true);
  await finish(worker, worker, document.id);
  const before = await records.read(document.id);
  if (!before) throw new Error('no record');
  const { takeSnapshot } = await import('../support/snapshot.js');
  const putBack = await takeSnapshot(redis);
  const { record: lost } = await replace(document);
  await putBack();
  const { record: kept } = await replace(document);
  expect([lost?.version, lost?.attempt]).toEqual([kept?.version, kept?.attempt]);
  expect(lost?.revision).not.toBe(kept?.revision);
  if (!lost || !kept) throw new Error('not replaced');

  // The worker that read the lost content goes on with what it knows.
  const chunks = createChunks(redis);
  const { generationId } = await import('../../src/shared/document.js');
  const run = { ...fenceOf(lost), generation: generationId(lost) };
  const publishLost = (each: DocumentRecord) => publish(each, { ...run, chunkCount: 1, tokenCount: 1 });
  expect((await records.update(document.id, publishLost, lost)).changed).toBe(false);
  const text = { text: 'lost', tokenCount: 1, overlap: 0, hash: 'h', like: null };
  const lostTexts = {
    documentId: document.id,
    generation: run.generation,
    first: 0,
    chunks: [text],
    tags: '',
    named: '',
  };
  expect(await chunks.writeTexts(lostTexts, lost.revision)).toBe('refused');
  expect(await worker.ingest(fenceOf(kept), { requestId: 'r', signal })).toBe('published');
  expect((await records.read(document.id))?.published?.storageKey).toBe(kept.pending?.storageKey);
});
