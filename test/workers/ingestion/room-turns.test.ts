import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import type { ChunkText } from '../../../src/shared/chunks/fields.js';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { NO_QUOTAS } from '../../../src/shared/documents/counts.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { cancel } from '../../../src/shared/documents/transitions.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { estimateRoom, createRoom } from '../../../src/workers/ingestion/room/room.js';
import { shownWhenPublished } from '../../../src/workers/ingestion/write-tags.js';
import { makeDocument } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);
const costs = { vectorBytes: 4_096, isIndexed: false };
const TURNS = { patience: 200, idle: 400, most: 1_500 };

const piecesOf = (count: number): ChunkText[] =>
  Array.from({ length: count }, (_, n) => ({ text: `otter ${String(n % 100)}`, tokenCount: 2, overlap: 0 }));
const small = piecesOf(100);
const tiny = piecesOf(20);
const large = piecesOf(350);

/** The free part of it is counted in small documents. */
let free: number;
let unit: number;

const room = createRoom({
  redis,
  memory: {
    state: () => Promise.resolve({ used: 0, share: Math.ceil(free * unit), max: 100 * unit }),
    shortage: () => Promise.resolve(null),
    isShort: () => Promise.resolve(false),
    isFull: () => Promise.resolve(false),
  },
  costs: () => Promise.resolve(costs),
  quotas: NO_QUOTAS,
  turns: TURNS,
});

/**
 * Tells whether a document gets room. A document larger than all room waits here, because this Redis counts nothing as
 * used.
 */
async function asks(record: DocumentRecord, pieces: readonly ChunkText[]): Promise<boolean> {
  try {
    await room.reserve(record, pieces);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('room in Redis')) return false;
    throw error;
  }
}

async function documentOf(ownerId: string): Promise<DocumentRecord> {
  const record = makeDocument({ ownerId });
  await records.create(record);
  return record;
}

const end = ({ id }: DocumentRecord) => records.update(id, (each) => cancel(each));

/** All that is free, taken by documents that are being ingested. */
async function begin(ownerId: string, count: number): Promise<DocumentRecord[]> {
  const begun: DocumentRecord[] = [];
  for (let number = 0; number < count; number += 1) {
    const record = await documentOf(ownerId);
    expect(await asks(record, small)).toBe(true);
    begun.push(record);
  }
  return begun;
}

beforeEach(async () => {
  await redis.flushAll();
  const { tags, naming } = shownWhenPublished(makeDocument());
  unit = (await estimateRoom(small, { ...costs, tags, naming })).all;
  free = 4.5;
});

/** Has a document wait for so long that it stands in the line. */
async function growOld(record: DocumentRecord, pieces = large): Promise<void> {
  expect(await asks(record, pieces)).toBe(false);
  await sleep(TURNS.patience);
  expect(await asks(record, pieces)).toBe(false);
}

test('a large document comes to its turn, however many small ones take the room that comes free', async () => {
  const begun = await begin('ann', 4);
  const waiting = await documentOf('bob');
  await growOld(waiting);
  let passed = 0;
  let isBegun = false;
  for (let step = 0; step < 30 && !isBegun; step += 1) {
    // One of them ends, and two others have come meanwhile.
    const [ended] = begun.splice(0, 1);
    if (ended) await end(ended);
    for (const owner of ['ann', 'eve']) {
      const next = await documentOf(owner);
      if (!(await asks(next, small))) continue;
      begun.push(next);
      passed += 1;
    }
    isBegun = await asks(waiting, large);
  }
  expect(isBegun).toBe(true);
  expect(passed).toBeLessThan(5);
});

test('small documents of any size wait while one has its turn, and go on as soon as it has room or is cancelled', async () => {
  const [first] = await begin('ann', 4);
  if (first) await end(first);
  const waiting = await documentOf('bob');
  await growOld(waiting);
  const [short, longer] = [await documentOf('ann'), await documentOf('eve')];
  // There would be room for both.
  expect([await asks(short, tiny), await asks(longer, small)]).toEqual([false, false]);
  await end(waiting);
  expect([await asks(longer, small), await asks(short, tiny)]).toEqual([true, true]);
});

test('very small documents pass one that has its turn, a 64th of it whenever so much has come free, and it gets its room', async () => {
  const [first, second, ...rest] = await begin('ann', 4);
  if (first) await end(first);
  const waiting = await documentOf('bob');
  await growOld(waiting);
  const passing = async () => {
    let passed = 0;
    while (passed < 20 && (await asks(await documentOf('eve'), piecesOf(1)))) passed += 1;
    return passed;
  };
  const passed = await passing();
  expect(passed).toBeGreaterThanOrEqual(3);
  expect(passed).toBeLessThanOrEqual(350 / 64);
  // A document that wants more goes on waiting, and passing ones do not prolong the turn.
  expect(await asks(await documentOf('eve'), tiny)).toBe(false);
  if (second) await end(second);
  expect(await asks(waiting, large)).toBe(false);
  expect(await passing()).toBe(passed);
  for (const each of rest) await end(each);
  expect(await asks(waiting, large)).toBe(true);
});

test('a turn ends when no more room comes free, and others have all of it for a while', async () => {
  const [first] = await begin('ann', 4);
  const waiting = await documentOf('bob');
  await growOld(waiting);
  const other = await documentOf('eve');
  expect(await asks(other, small)).toBe(false);
  if (first) await end(first);
  // More room came, so that the turn goes on, and no more.
  await sleep(TURNS.idle / 2);
  expect(await asks(waiting, large)).toBe(false);
  await sleep(TURNS.idle / 2);
  expect(await asks(other, small)).toBe(false);
  await sleep(TURNS.idle / 2);
  await asks(waiting, large);
  expect(await asks(other, small)).toBe(true);
  expect(await asks(waiting, large)).toBe(false);
  // Its next turn comes after the pause.
  await end(other);
  await sleep(TURNS.most);
  expect(await asks(waiting, large)).toBe(false);
  expect(await asks(await documentOf('eve'), small)).toBe(false);
});

test('who has many documents waiting has no more turns than others', async () => {
  await begin('ann', 4);
  const many = await Promise.all(Array.from({ length: 10 }, () => documentOf('bob')));
  const one = await documentOf('eve');
  for (const record of [...many, one]) expect(await asks(record, large)).toBe(false);
  await sleep(TURNS.patience);
  for (const record of [...many, one]) expect(await asks(record, large)).toBe(false);
  const holders: string[] = [];
  for (const start = performance.now(); performance.now() - start < 10_000 && !holders.includes('eve');) {
    for (const record of [...many, one]) await asks(record, large);
    const id = await redis.hGet(keys.turnForRoom, 'document');
    const holder = [...many, one].find((each) => each.id === id);
    if (!holder) {
      await sleep(50);
      continue;
    }
    holders.push(holder.ownerId);
    await end(holder);
  }
  expect(holders).toEqual(['bob', 'eve']);
});
