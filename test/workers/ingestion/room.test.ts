import { beforeEach, expect, test } from '@jest/globals';
import type { ChunkText } from '../../../src/shared/chunks/fields.js';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { NO_QUOTAS } from '../../../src/shared/documents/counts.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { cancel } from '../../../src/shared/documents/transitions.js';
import type { MemoryState } from '../../../src/shared/redis/memory.js';
import { estimateRoom, createRoom } from '../../../src/workers/ingestion/room/room.js';
import { takeBackScript } from '../../../src/workers/ingestion/room/room-scripts.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { shownWhenPublished } from '../../../src/workers/ingestion/write-tags.js';
import { makeDocument } from '../../support/documents.js';
import { rejection } from '../../support/rejection.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);
const costs = { vectorBytes: 4_096, isIndexed: false };
const pieces: ChunkText[] = Array.from({ length: 100 }, (_, n) => ({
  text: `otter ${String(n)}`,
  tokenCount: 2,
  overlap: 0,
}));

const wanted = async (record: DocumentRecord) => {
  const { tags, naming } = shownWhenPublished(record);
  return (await estimateRoom(pieces, { ...costs, tags, naming })).all;
};

/** A Redis that has room for so many documents of a hundred short chunks, while it counts nothing of what is written. */
async function roomFor(documents: number, quotas = NO_QUOTAS) {
  const free = documents * (await wanted(makeDocument()));
  const state: MemoryState = { used: 1_000_000, share: 1_000_000 + free, max: 2_000_000 + free };
  return createRoom({
    redis,
    memory: {
      state: () => Promise.resolve(state),
      shortage: () => Promise.resolve(null),
      isShort: () => Promise.resolve(false),
      isFull: () => Promise.resolve(false),
    },
    costs: () => Promise.resolve(costs),
    quotas,
  });
}

async function documentOf(ownerId: string): Promise<DocumentRecord> {
  const record = makeDocument({ ownerId });
  await records.create(record);
  return record;
}

beforeEach(async () => {
  await redis.flushAll();
});

const noRoom = { message: expect.stringContaining('room in Redis') };

test('documents get room until all of it is promised; one that waits holds none of it', async () => {
  const room = await roomFor(3.5);
  const large = [await documentOf('ann'), await documentOf('ann'), await documentOf('ann')];
  for (const record of large) await room.reserve(record, pieces);
  const waiting = await documentOf('bob');
  expect(await rejection(room.reserve(waiting, pieces))).toMatchObject(noRoom);
  await records.update(large[0]?.id ?? '', (each) => cancel(each));
  // Freed room is for whoever asks next.
  await room.reserve(await documentOf('eve'), pieces);
  expect(await rejection(room.reserveAgain(waiting))).toMatchObject(noRoom);
  await records.update(large[1]?.id ?? '', (each) => cancel(each));
  await room.reserveAgain(waiting);
});

test('what a document has written is not counted twice', async () => {
  const room = await roomFor(1.5);
  const record = await documentOf('ann');
  await room.reserve(record, pieces);
  const other = await documentOf('ann');
  expect(await rejection(room.reserve(other, pieces))).toMatchObject(noRoom);
  await room.spend(record, 0);
  await room.reserve(other, pieces);
});

test('one caller gets at most half of the room while others wait for some', async () => {
  const room = await roomFor(4.5);
  for (let number = 0; number < 4; number += 1) await room.reserve(await documentOf('ann'), pieces);
  expect(await rejection(room.reserve(await documentOf('bob'), pieces))).toMatchObject(noRoom);
  const larger = await roomFor(5.5);
  // There would be room for it, but Bob waits.
  expect(await rejection(larger.reserve(await documentOf('ann'), pieces))).toMatchObject(noRoom);
  await larger.reserve(await documentOf('bob'), pieces);
});

test('a document that needs more than there is at all is refused for good', async () => {
  const room = await roomFor(0.01);
  const record = await documentOf('ann');
  const bytes = await wanted(record);
  expect(bytes).toBeGreaterThan(pieces.length * costs.vectorBytes);
  const error = rejection(room.reserve(record, Array.from({ length: 300 }, () => pieces).flat()));
  expect(await error).toMatchObject({ code: 'too_large' });
});

test('a long document is refused for good where its chunks pass the quota, also when it is tried again', async () => {
  const room = await roomFor(3, { ...NO_QUOTAS, chunks: pieces.length + 50 });
  await redis.hSet(keys.owned('ann'), 'chunks', '51');
  const record = await documentOf('ann');
  for (let tries = 0; tries < 2; tries += 1)
    expect(await rejection(room.reserve(record, pieces))).toMatchObject({ code: 'too_large' });
  await redis.hSet(keys.owned('ann'), 'chunks', '50');
  await room.reserve(record, pieces);
});

/** Takes back a document that has begun, as when Redis becomes short of memory. */
const takeBack = ({ id }: DocumentRecord) =>
  takeBackScript.run(redis, {
    keys: { reserved: keys.reservedRoom, waiting: keys.waitingForRoom },
    args: { id, more: 1.5 },
  });

test('a document that has to give back twice wants more each time, and never fails for that alone', async () => {
  const room = await roomFor(1.6);
  const record = await documentOf('ann');
  await room.reserve(record, pieces);
  await takeBack(record);
  await room.reserveAgain(record);
  await room.reserve(record, pieces);
  await takeBack(record);
  const roomier = await roomFor(2.5);
  // Half as much again as it had at its second try, although it was read anew in between.
  expect(await rejection(room.reserveAgain(record))).toMatchObject(noRoom);
  await roomier.reserveAgain(record);
  const large = await roomFor(7);
  for (let times = 0; times < 20; times += 1) {
    await large.reserveAgain(record);
    await large.reserve(record, pieces);
    await takeBack(record);
  }
});

test('a document that was too large with what it gave back is tried as it is when somebody retries it', async () => {
  const record = await documentOf('ann');
  const bytes = await wanted(record);
  await redis.hSet(keys.waitingForRoom, record.id, `1:${String(100 * bytes)}:0`);
  const room = await roomFor(2);
  expect(await rejection(room.reserveAgain(record))).toMatchObject({ code: 'too_large' });
  await room.reserveAgain(record);
  await room.reserve(record, pieces);
});

test('where many documents wait, each is tried less often, and none of it takes Redis longer', async () => {
  const room = await roomFor(0.5);
  await room.reserve(await documentOf('bob'), pieces).catch(() => undefined);
  const record = await documentOf('ann');
  const waiting: Record<string, string> = {};
  const ingests: Record<string, string> = {};
  for (let number = 0; number < 20_000; number += 1) {
    waiting[`waiting${String(number)}`] = '1:1000000:0';
    ingests[`waiting${String(number)}`] = 'ann';
  }
  await redis.hSet(keys.waitingForRoom, waiting);
  await redis.hSet(keys.ingests, ingests);
  await redis.zAdd(keys.ingestsByCaller, { value: 'ann', score: 20_000 });
  await redis.configResetStat();
  const { retryAfterSeconds } = (await rejection(room.reserve(record, pieces))) as {
    retryAfterSeconds: number;
  };
  expect(retryAfterSeconds).toBeGreaterThanOrEqual(400);
  const calls = (await redis.info('commandstats')).match(/cmdstat_(?:hget|hexists):calls=\d+/g) ?? [];
  for (const each of calls) expect(Number(each.split('=')[1])).toBeLessThan(30);
});
