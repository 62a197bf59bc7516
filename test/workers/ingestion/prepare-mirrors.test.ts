import { beforeEach, describe, expect, test } from '@jest/globals';
import { generationId, type DocumentRecord } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { requeue } from '../../../src/shared/documents/transitions.js';
import { tellOfMirror } from '../../../src/shared/mirror-preparation/mirror-preparation.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import { NotYetError } from '../../../src/workers/job-turn.js';
import { makeDocument } from '../../support/documents.js';
import { useLongIngest } from '../../support/long-ingest.js';
import { rejection } from '../../support/rejection.js';
import { until } from '../../support/until.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
const LONG = 3;
const SHARE = 0.5;
const ingestLong = useLongIngest({ url, redis });
let document: DocumentRecord;

beforeEach(async () => {
  await redis.flushAll();
  await redis.configSet('maxmemory', '0');
  document = makeDocument();
  await records.create(document);
});

/** A worker for whom a document of three chunks is long. `embed` is the job of its only batch, whose texts are there. */
function ingest(chunkCount: number) {
  const texts = Array.from({ length: chunkCount }, (_, n) => `otter ${String(n)}`);
  return ingestLong(document, texts, { memoryShare: SHARE, mirroredFrom: LONG });
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

/** Passes over NotYetError: the known state of the memory is a moment old. */
function rethrowUnlessNotYet(error: unknown): void {
  if (!(error instanceof NotYetError)) throw error;
}
