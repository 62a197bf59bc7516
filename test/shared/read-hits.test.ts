import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createReadHits, type ReadHits } from '../../src/shared/read-hits.js';
import { openSearchWorld, type SearchWorld } from '../support/search-world.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';

let server: TestRedis;
let redis: Redis;
let world: SearchWorld;
let readHits: ReadHits;
beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  world = await openSearchWorld(server.url);
  readHits = createReadHits(redis);
}, 30_000);
afterAll(async () => {
  world.close();
  redis.destroy();
  await server.stop();
});

const UNKNOWN = '11111111-1111-1111-1111-111111111111';

test('reads texts in their order, and of records what access and filters look at, as they stand', async () => {
  const id = await world.create({ metadata: { kind: 'letter' } });
  await world.publish(id, ['the harbour', '倉庫の鍵']);
  const generation = `${id}.1.1`;
  const addresses = [
    { generation, number: 1 },
    { generation, number: 7 },
    { generation, number: 0 },
  ];
  const { contents, records } = await readHits(addresses, [id, UNKNOWN, id]);
  expect(contents).toEqual(['倉庫の鍵', null, 'the harbour']);
  const [first, missing, again] = records;
  expect(first).toMatchObject({ id, metadata: { kind: 'letter' }, published: { generation }, pending: null });
  expect([missing, again]).toEqual([null, first]);
  await world.patch(id, { readers: ['anna'] });
  expect((await readHits([], [id])).records).toEqual([{ ...first, readers: ['anna'] }]);
  expect(await readHits([], [])).toEqual({ contents: [], records: [] });
});

test('reads a page of the largest size at once', async () => {
  const id = await world.create();
  const texts = Array.from({ length: 100 }, (_, i) => `chunk ${String(i)}`);
  await world.publish(id, texts);
  const addresses = texts.map((_, number) => ({ generation: `${id}.1.1`, number }));
  const { contents, records } = await readHits(addresses, [id, ...Array.from({ length: 99 }, () => UNKNOWN)]);
  expect(contents).toEqual(texts);
  expect(records.filter((each) => each !== null)).toHaveLength(1);
});
