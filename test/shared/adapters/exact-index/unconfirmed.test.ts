import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { createQuietTimes } from '../../../../src/shared/adapters/exact-index/answer-question.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import type { DataState, Index } from '../../../../src/shared/ports.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import {
  createConfirmation,
  OutdatedError,
  createReadHits,
} from '../../../../src/shared/search/read-hits.js';
import { startTestRedis, type TestRedis } from '../../../support/redis.js';
import { openSearchWorld, type SearchWorld } from '../../../support/search-world.js';
import { RANKERS } from '../../../support/search-worlds.js';
import { until } from '../../../support/until.js';

let redis: TestRedis;
let world: SearchWorld;
let index: Index;
let id: string;

const QUERY = 'where does the heron stand';
const asked = { query: QUERY, principal: { id: 'owner' }, filter: null, minScore: 0.01, limit: 10 };

beforeAll(async () => {
  redis = await startTestRedis();
  world = await openSearchWorld(redis.url);
  id = await world.create({ ownerId: 'owner', readers: ['owner'] });
  await world.publish(id, ['The heron stands in the reeds.']);
  index = await createExactIndex({ redisUrl: redis.url, held: 'of-terms' });
  await until(async () => (await index.state()) === 'ready');
});
afterEach(quiet);
afterAll(async () => {
  await index.close();
  world.close();
  await redis.stop();
});

/** Answers by words, and the state that each was of. */
async function search() {
  let state: DataState | null = null;
  const found = await index.words.search({
    ...asked,
    onUnconfirmed: (of) => {
      state = of;
    },
  });
  return { found: found.length, state: state as DataState | null };
}

/** Waits until the index has seen all changes and expects none. */
async function quiet(): Promise<void> {
  const sequence = Number(await world.redis.get(keys.sequence));
  await until(async () => (await search()).state?.sequence === sequence);
}

/** Reads the chunk that was published first, found in such a state. */
async function readAs(state: DataState) {
  const generation = (await world.current(id)).published?.generation ?? '';
  const confirmation = createConfirmation();
  confirmation.onUnconfirmed?.(state);
  const address = { generation, number: 0 };
  const { contents } = await createReadHits(world.redis)([address], [id], ({ id: read }) => read, {
    confirmation,
  });
  expect(confirmation.state).toBeNull();
  return contents;
}

const searchWhole = () =>
  world.createSearch(
    index,
    RANKERS.lexical,
  )({ principal: { id: 'owner' }, query: QUERY, filter: null, k: 10, minScore: 0.01, per: 'chunk' });

test('an index that saw no change for a while answers without asking, and says what it has seen', async () => {
  await quiet();
  const { state, found } = await search();
  const [epoch, sequence] = await world.redis.mGet([keys.epoch, keys.sequence]);
  const server = /run_id:(\w+)/.exec(await world.redis.info('server'))?.[1];
  expect(state).toEqual({ server, epoch, sequence: Number(sequence) });
  expect(found).toBe(1);
  const stats = async () => /cmdstat_mget:calls=(\d+)/.exec(await world.redis.info('commandstats'))?.[1];
  const before = Number(await stats());
  for (let i = 0; i < 50; i += 1) await search();
  // The index itself asks once a second.
  expect(Number(await stats()) - before).toBeLessThan(10);
});

test('who does not compare states gets what was published before', async () => {
  for (let i = 0; i < 3; i += 1) {
    await quiet();
    const other = await world.create({ ownerId: 'owner', readers: ['owner'] });
    await world.publish(other, ['Another heron stands elsewhere.']);
    expect(await index.words.search(asked)).toHaveLength(2);
    await world.remove(other);
    expect(await index.words.search(asked)).toHaveLength(1);
  }
});

test('a search sees every publish and every removal before it, however quiet it was', async () => {
  for (let i = 0; i < 3; i += 1) {
    await quiet();
    const other = await world.create({ ownerId: 'owner', readers: ['owner'] });
    await quiet();
    await world.publish(other, ['Another heron stands elsewhere.']);
    expect(await searchWhole()).toHaveLength(2);
    await quiet();
    await world.replace(other, ['A crane dances.']);
    expect(await searchWhole()).toHaveLength(1);
    await quiet();
    await world.remove(other);
    expect(await searchWhole()).toHaveLength(1);
  }
});

test('a search that finds nothing has looked at the present data', async () => {
  await quiet();
  await world.patch(id, { readers: [], writers: [], admins: [] });
  expect(await searchWhole()).toEqual([]);
  await quiet();
  await world.patch(id, { readers: ['owner'] });
  expect(await searchWhole()).toHaveLength(1);
});

test('a server that lost its last changes and saw as many others is not taken for the one before', async () => {
  const copy = await redis.copyData();
  try {
    const lost = await world.create({ ownerId: 'owner', readers: ['owner'] });
    await quiet();
    const before = (await search()).state;
    await redis.crash();
    await copy.putBack();
    await redis.start();
    await until(() => world.redis.isReady);
    await world.create({ ownerId: 'owner', readers: [], writers: [], admins: [] });
    world.documents.delete(lost);
    const [epoch, sequence] = await world.redis.mGet([keys.epoch, keys.sequence]);
    expect(before).toMatchObject({ epoch, sequence: Number(sequence) });
    if (!before) throw new Error('no state');
    await expect(readAs(before)).rejects.toThrow(OutdatedError);
    await until(async () => {
      try {
        return (await searchWhole()).length === 1;
      } catch (error) {
        if (error instanceof UnavailableError) return false;
        throw error;
      }
    });
  } finally {
    await copy.discard();
  }
});

test('the state is compared with what the data is when hits are read', async () => {
  await quiet();
  const { state } = await search();
  if (!state) throw new Error('no state');
  expect(await readAs(state)).toHaveLength(1);
  for (const other of [{ sequence: state.sequence - 1 }, { epoch: 'another' }, { server: 'f'.repeat(40) }])
    await expect(readAs({ ...state, ...other })).rejects.toThrow(OutdatedError);
});

test('times are quiet some time after a change was noticed', () => {
  let [changes, now] = [0, 0];
  const isQuiet = createQuietTimes(
    () => changes,
    () => now,
  );
  const told = (at: number) => {
    now = at;
    return isQuiet();
  };
  expect([told(0), told(249), told(250)]).toEqual([false, false, true]);
  changes += 1;
  expect([told(600), told(849), told(850)]).toEqual([false, false, true]);
});
