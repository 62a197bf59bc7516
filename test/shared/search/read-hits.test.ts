import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createGuard, SharingChangedError } from '../../../src/shared/access/sharing.js';
import { packWhereabouts } from '../../../src/shared/chunks/fields.js';
import type { MatchableDocument } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { MalformedRecordError } from '../../../src/shared/errors.js';
import type { DataState } from '../../../src/shared/ports.js';
import { createRedis } from '../../../src/shared/redis/client.js';
import { keys } from '../../../src/shared/redis/keys.js';
import {
  createConfirmation,
  OutdatedError,
  createReadHits,
  type ReadHits,
} from '../../../src/shared/search/read-hits.js';
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

/** Returns what work returns, and the number of scripts that were run meanwhile. */
async function counted<Result>(work: () => Promise<Result>) {
  const count = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  const before = await count();
  const result = await work();
  return { result, scripts: (await count()) - before };
}

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
  expect(contents[1]).toBeNull();
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
  expect((await counted(() => readHits(addresses, ids, whole))).scripts).toBe(1);
});

test('reads two megabytes at a time, so that Redis is there for others in between', async () => {
  const texts = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(2 ** 20));
  for (const [number, content] of texts.entries()) await redis.hSet(keys.chunk('large', number), { content });
  const id = await world.create();
  const addresses = texts.map((_, number) => ({ generation: 'large', number }));
  const ids = [id, UNKNOWN, id];
  await readHits([], ids, whole);
  const { result, scripts } = await counted(() => readHits(addresses, ids, (record) => record.id));
  expect(result).toEqual({
    contents: texts.map((text) => ({ text, location: null, section: [], spots: '' })),
    records: [id, null, id],
  });
  // The first asks for what is small enough to need no turn.
  expect(scripts).toBe(4);
});

test('reads where in its file each text stands, and of records only what is wanted', async () => {
  const where = { location: { lines: { first: 2, last: 3 } }, section: ['Ships', 'Cranes'], spots: 'AAI' };
  await redis.hSet(keys.chunk('placed', 0), { content: 'a', where: packWhereabouts(where) });
  await redis.hSet(keys.chunk('placed', 1), { content: 'b' });
  const id = await world.create({ metadata: { kind: 'letter' } });
  const addresses = [0, 1].map((number) => ({ generation: 'placed', number }));
  expect(await readHits(addresses, [id, UNKNOWN], ({ metadata }) => metadata)).toEqual({
    contents: [
      { text: 'a', ...where },
      { text: 'b', location: null, section: [], spots: '' },
    ],
    records: [{ kind: 'letter' }, null],
  });
});

test('a record that cannot be read is told and left out, and fails the reading where nobody is told', async () => {
  const [before, malformed, after] = [await world.create(), await world.create(), await world.create()];
  await redis.hSet(keys.document(malformed), 'metadata', '{');
  const ids = [before, malformed, after];
  const told: string[] = [];
  const telling = createReadHits(redis, (id, error) => {
    expect(error).toBeInstanceOf(MalformedRecordError);
    told.push(id);
  });
  expect((await telling([], ids, ({ id }) => id)).records).toEqual([before, null, after]);
  expect(told).toEqual([malformed]);
  await expect(readHits([], ids, whole)).rejects.toThrow(MalformedRecordError);
  await redis.del(keys.document(malformed));
});

describe('what was found in a state of the data', () => {
  /** The state of the data now. */
  const present = async (): Promise<DataState> => {
    const [epoch, sequence] = await redis.mGet([keys.epoch, keys.sequence]);
    const server = /run_id:(\w+)/.exec(await redis.info('server'))?.[1] ?? '';
    return { server, epoch: epoch ?? '', sequence: Number(sequence) };
  };
  const readIn = (state: DataState, address = { generation: 'any', number: 0 }) => {
    const confirmation = createConfirmation();
    confirmation.onUnconfirmed?.(state);
    const reading = readHits([address], [], whole, { confirmation });
    return { confirmation, reading };
  };
  beforeAll(async () => {
    await redis.set(keys.epoch, 'of-the-test');
  });

  test('is read and confirmed in the same state', async () => {
    const id = await world.create();
    await world.publish(id, ['the harbour']);
    const address = { generation: await generationOf(id), number: 0 };
    const { confirmation, reading } = readIn(await present(), address);
    expect((await reading).contents[0]?.text).toBe('the harbour');
    expect(confirmation.state).toBeNull();
  });

  test.each([
    { name: 'after another change', other: { sequence: 999_999 } },
    { name: 'in another data set', other: { epoch: 'another' } },
    { name: 'on another server', other: { server: 'f'.repeat(40) } },
  ])('is not read $name', async ({ other }) => {
    const { confirmation, reading } = readIn({ ...(await present()), ...other });
    await expect(reading).rejects.toThrow(OutdatedError);
    expect(confirmation.state).not.toBeNull();
  });

  test('is of the number 0 where nothing was ever changed', async () => {
    const before = await present();
    await redis.del(keys.sequence);
    const { confirmation, reading } = readIn({ ...before, sequence: 0 });
    await reading;
    expect(confirmation.state).toBeNull();
    await expect(readIn({ ...before, sequence: 1 }).reading).rejects.toThrow(OutdatedError);
    await redis.set(keys.sequence, String(before.sequence));
  });
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
