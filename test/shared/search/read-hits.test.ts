import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { MatchableDocument } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createReadHits, type ReadHits } from '../../../src/shared/search/read-hits.js';
import { openSearchWorld, type SearchWorld } from '../../support/search-world.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis();
let world: SearchWorld;
let readHits: ReadHits;
beforeAll(async () => {
  world = await openSearchWorld(url);
  readHits = createReadHits(redis);
});
afterAll(() => {
  world.close();
});

const whole = (record: MatchableDocument) => record;
const UNKNOWN = '11111111-1111-1111-1111-111111111111';

const generationOf = async (id: string) =>
  (await createRecords(redis).read(id))?.published?.generation ?? 'none';

test('reads texts in their order, and of records what access and filters look at, as they stand', async () => {
  const id = await world.create({ metadata: { kind: 'letter' } });
  await world.publish(id, ['the harbour', '倉庫の鍵']);
  const generation = await generationOf(id);
  const addresses = [
    { generation, number: 1 },
    { generation, number: 7 },
    { generation, number: 0 },
  ];
  const { contents, records } = await readHits(addresses, [id, UNKNOWN, id], whole);
  expect(contents.map((each) => each?.text ?? null)).toEqual(['倉庫の鍵', null, 'the harbour']);
  const record = await createRecords(redis).read(id);
  if (!record) throw new Error('no record');
  const { ownerId, createdAt, readers, writers, admins, metadata, published, pending } = record;
  const seen = { id, ownerId, createdAt, readers, writers, admins, metadata, published, pending };
  expect(metadata).toEqual({ kind: 'letter' });
  expect(records).toEqual([seen, null, seen]);
  await world.patch(id, { readers: ['anna'] });
  expect((await readHits([], [id], whole)).records).toEqual([{ ...seen, readers: ['anna'] }]);
  expect(await readHits([], [], whole)).toEqual({ contents: [], records: [] });
});

test('reads a page of the largest size at once', async () => {
  const id = await world.create();
  const texts = Array.from({ length: 100 }, (_, i) => `chunk ${String(i)}`);
  await world.publish(id, texts);
  const generation = await generationOf(id);
  const addresses = texts.map((_, number) => ({ generation, number }));
  const ids = [id, ...Array.from({ length: 99 }, () => UNKNOWN)];
  const { contents, records } = await readHits(addresses, ids, whole);
  expect(contents.map((each) => each?.text)).toEqual(texts);
  expect(records.filter((each) => each !== null)).toHaveLength(1);
});

test('a record that was read before is not sent again until anything of it changes', async () => {
  const id = await world.create({ metadata: { kind: 'letter', 名前: '倉庫' } });
  await world.publish(id, ['the harbour']);
  const [before] = (await readHits([], [id], whole)).records;
  const replies: unknown[] = [];
  const spied = createReadHits({
    eval: (...call: Parameters<typeof redis.eval>) => redis.eval(...call),
    evalSha: async (...call: Parameters<typeof redis.evalSha>) => {
      const reply = await redis.evalSha(...call);
      replies.push(reply);
      return reply;
    },
  });
  const read = async () => (await spied([], [id, UNKNOWN, id], whole)).records;
  expect(await read()).toEqual([before, null, before]);
  expect(await read()).toEqual([before, null, before]);
  expect(replies[1]).toEqual([[], [1, expect.any(Array), 1], 0]);

  await world.patch(id, { readers: ['anna'] });
  const [after] = (await readHits([], [id], whole)).records;
  expect(after?.readers).toEqual(['anna']);
  expect(await read()).toEqual([after, null, after]);
  expect(await read()).toEqual([after, null, after]);
  // Another value of the same length, which no commit of ours has written.
  const [field, was, other] = ['readers', '["anna"]', '["enna"]'] as const;
  expect(await redis.hGet(keys.document(id), field)).toBe(was);
  await redis.hSet(keys.document(id), field, other);
  expect((await read())[0]?.readers).toEqual(['enna']);
  await redis.del(keys.document(id));
  expect(await read()).toEqual([null, null, null]);
});

test('long records are read anew each time', async () => {
  const readers = Array.from({ length: 200 }, (_, i) => `reader ${String(i)} of this document`);
  const id = await world.create({ readers });
  await world.publish(id, ['the harbour']);
  const first = await readHits([], [id], whole);
  expect(first.records[0]?.readers).toEqual(readers);
  expect(await readHits([], [id], whole)).toEqual(first);
});
