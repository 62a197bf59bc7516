import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGuard, SharingChangedError } from '../../../src/shared/access/sharing.js';
import type { MatchableDocument } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { createRedis } from '../../../src/shared/redis/client.js';
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

test('reads with the right to read alone, so that no search waits for a write to the disk', async () => {
  const id = await world.create();
  await world.publish(id, ['the harbour']);
  const address = { generation: await generationOf(id), number: 0 };
  await redis.sendCommand(['ACL', 'SETUSER', 'reader', 'on', 'nopass', '~*', '+@all', '-@write']);
  const asReader = createRedis(url.replace('//', '//reader:any@'), {
    failFast: true,
    onError: () => undefined,
  });
  await asReader.connect();
  try {
    await expect(asReader.set('any', 'value')).rejects.toThrow(/NOPERM/);
    const { contents, records } = await createReadHits(asReader)([address], [id], whole);
    expect([contents[0]?.text, records[0]?.id]).toEqual(['the harbour', id]);
  } finally {
    asReader.destroy();
    await redis.sendCommand(['ACL', 'DELUSER', 'reader']);
  }
});

test('reads nothing where the caller has said meanwhile what of others is found, also without lists before', async () => {
  const id = await world.create();
  await world.publish(id, ['the harbour']);
  const address = { generation: await generationOf(id), number: 0 };
  const read = async (revision: string) => {
    const guard = createGuard('ann', revision);
    await readHits([address], [id], whole, { guard });
    return guard.isConfirmed;
  };
  expect(await read('')).toBe(true);
  await expect(read('1')).rejects.toThrow(SharingChangedError);
  await redis.hSet(keys.sharing('ann'), 'revision', '1');
  expect(await read('1')).toBe(true);
  await expect(read('')).rejects.toThrow(SharingChangedError);
  await redis.hSet(keys.sharing('ann'), 'revision', '2');
  await expect(read('1')).rejects.toThrow(SharingChangedError);
});
