import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import type { NewRecord } from '../../../../src/shared/documents/change.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { shortSourceKey } from '../../../../src/shared/storage/sources.js';
import { makeContent, makeDocument, makeOperation } from '../../../support/documents.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);

beforeEach(async () => {
  await redis.flushAll();
});

type Details = Parameters<typeof makeDocument>[0];

function shortText(text: string, details: Details = {}): NewRecord {
  const id = randomUUID();
  const source = { storageKey: shortSourceKey({ documentId: id, version: 1 }), bytes: Buffer.from(text) };
  const pending = makeContent({ storageKey: source.storageKey, sha256: `${text}-hash` });
  const operation = makeOperation({ metadata: { document_id: id } });
  return { record: makeDocument({ id, pending, operation, ...details }), source, group: 'of-the-test' };
}

/** All that Redis holds, with the time of each step of a document left out. */
async function everything(): Promise<Record<string, unknown>> {
  const held: Record<string, unknown> = {};
  for (const key of (await redis.keys('*')).sort()) {
    const type = await redis.type(key);
    if (type === 'hash') held[key] = { ...(await redis.hGetAll(key)) };
    else if (type === 'zset') held[key] = await redis.zRangeWithScores(key, 0, -1);
    else held[key] = await redis.get(key);
  }
  const unfinished = await redis.zRangeWithScores(keys.unfinished, 0, -1);
  return { ...held, [keys.unfinished]: unfinished.map(({ value }) => value).sort() };
}

test('short texts are written together as each of them is alone', async () => {
  const texts = [
    shortText('one'),
    shortText('two', { metadata: { colour: 'red', pages: 3 } }),
    shortText('three', { readers: ['owner', 'a reader'] }),
    // Its owner may not read it, so that its content is not found again.
    shortText('four', { readers: [], writers: [], admins: ['an admin'] }),
    shortText('ünïcödé'),
  ];
  for (const { record, ...effects } of texts) await records.create(record, effects);
  const alone = await everything();
  await redis.flushAll();
  expect(await records.createMany(texts)).toEqual(texts.map(() => null));
  expect(await everything()).toEqual(alone);
  expect(await redis.zScore(keys.ingestsByCaller, 'owner')).toBe(texts.length);
  const unfinished = await redis.zRangeWithScores(keys.unfinished, 0, -1);
  for (const { score } of unfinished) expect(Math.abs(score - Date.now())).toBeLessThan(600_000);
});

test('a text whose id a document has is refused, and leaves that document alone', async () => {
  const [first, second, third] = [shortText('one'), shortText('two'), shortText('three')];
  await records.create(second.record, second);
  const other = { ...shortText('other'), record: { ...second.record, metadata: { is: 'another' } } };
  const errors = await records.createMany([first, other, third]);
  expect(errors.map((error) => error?.message ?? null)).toEqual([null, expect.any(String), null]);
  expect(await records.read(second.record.id)).toEqual(second.record);
  expect(await redis.zScore(keys.ingestsByCaller, 'owner')).toBe(3);
  expect(await redis.zCard(keys.changes)).toBe(3);
  expect(Number(await redis.get(keys.sequence))).toBe(3);
});

test('the same text sent twice in a step is written once', async () => {
  const text = shortText('one');
  const errors = await records.createMany([text, text]);
  expect(errors[0]).toBeNull();
  expect(errors[1]).toBeInstanceOf(Error);
  expect(await redis.zScore(keys.ingestsByCaller, 'owner')).toBe(1);
  expect(Number(await redis.get(keys.sequence))).toBe(1);
});

test('texts of many readers are written with their access group', async () => {
  const readers = ['owner', ...Array.from({ length: 20 }, (_, n) => `reader ${String(n)}`)];
  const texts = [shortText('one'), shortText('two', { readers })];
  expect(await records.createMany(texts)).toEqual([null, null]);
  const { id } = texts[1]?.record ?? { id: '' };
  expect(await redis.hGet(keys.document(id), 'audiences')).not.toBeNull();
});
