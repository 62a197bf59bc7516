import { afterEach, expect, test } from '@jest/globals';
import { documentIndex } from '../../../../src/shared/adapters/query-engine-index/definition.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import type { Index } from '../../../../src/shared/ports.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { askUntilReady, expectOnly } from '../../../support/ask-until-ready.js';
import { fillIndex } from '../../../support/fill-index.js';
import {
  chunkCount,
  CHUNKS,
  SPACE,
  createQueryEngineBench,
  documentCount,
  isReady,
  listCount,
} from '../../../support/query-engine-bench.js';
import { describeWithQueryEngine } from '../../../support/query-engine.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

describeWithQueryEngine('a Query Engine index that is lost', (engine) => {
  const { start, connect, open, dataOf, closeAll } = createQueryEngineBench(engine);
  afterEach(closeAll);

  const MANY = { documents: 1_000, chunksEach: 10, dimensions: 4 };
  const WHOLE = { chunks: 10_000, documents: 1_000 };
  const expectWhole = async (index: Index) => {
    expect(await chunkCount(index)).toBe(WHOLE.chunks);
    expect(await documentCount(index)).toBe(WHOLE.documents);
    expect(await listCount(index)).toBe(WHOLE.documents);
  };
  test.each(['its commands', 'a snapshot'])(
    'after a restart from %s it answers nothing or the whole',
    async (from) => {
      const redis = await start();
      const { index } = await open(redis);
      await until(isReady(index));
      await fillIndex(redis.url, MANY);
      await expectWhole(index);
      const client = await connect(redis);
      if (from === 'a snapshot') {
        await client.sendCommand(['BGREWRITEAOF']);
        await until(async () => (await client.info('persistence')).includes('aof_rewrite_in_progress:0'));
      }
      await redis.crash();
      await until(async () => (await index.state()) === 'loading');
      const restarted = redis.start();
      const answers = await askUntilReady(index);
      await restarted;
      expectOnly(answers, WHOLE);
      expect(answers.refusals).toBeGreaterThan(0);
      await expectWhole(index);
    },
  );

  test.each([
    ['chunks', CHUNKS.name],
    ['documents', documentIndex.name],
  ])('it is rebuilt from the hashes when somebody drops the index over %s', async (_, name) => {
    // Slowly, so that there is a half of it to be asked.
    const redis = await start({ module: ['BG_INDEX_SLEEP_GAP', '1'] });
    const { index } = await open(redis);
    await until(isReady(index));
    await fillIndex(redis.url, MANY);
    const client = await connect(redis);
    await client.ft.dropIndex(name);
    const answers = await askUntilReady(index);
    expectOnly(answers, WHOLE);
    expect(answers.refusals).toBeGreaterThan(0);
    await expectWhole(index);
  });

  test('a drop that nobody searches after is noticed by itself', async () => {
    const redis = await start();
    const { index } = await open(redis);
    await until(isReady(index));
    const client = await connect(redis);
    await client.ft.dropIndex(CHUNKS.name);
    await until(async () => (await client.ft._list()).includes(CHUNKS.name));
  });

  test('after FLUSHALL it says that it is loading, and then finds what comes in', async () => {
    const redis = await start();
    const { index } = await open(redis);
    await fillIndex(redis.url, { ...MANY, documents: 10 });
    const client = await connect(redis);
    await client.flushAll();
    expect(await rejection(chunkCount(index))).toBeInstanceOf(UnavailableError);
    expect(await index.state()).toBe('loading');
    const data = await dataOf(redis);
    const id = await data.create();
    await data.publish(id, [[1, 0, 0, 0]]);
    await until(isReady(index));
    expect([await chunkCount(index), await documentCount(index)]).toEqual([1, 1]);
  });

  test('after a restart without persistence it finds what comes in', async () => {
    const redis = await start({ server: ['--appendonly', 'no'] });
    const { index } = await open(redis);
    await until(isReady(index));
    await fillIndex(redis.url, { ...MANY, documents: 10 });
    expect(await chunkCount(index)).toBe(100);
    await redis.crash();
    await redis.start();
    const data = await dataOf(redis);
    const id = await data.create();
    await data.publish(id, [[1, 0, 0, 0]]);
    const answers = await askUntilReady(index);
    expect([...answers.chunks, ...answers.documents].filter((count) => count !== 1)).toEqual([]);
    expect([await chunkCount(index), await documentCount(index)]).toEqual([1, 1]);
  });

  test.each<[string, string[]]>([
    [
      'another dimension',
      ['ON', 'HASH', 'PREFIX', '1', keys.chunkPrefix, ...schema('FLAT', 'FLOAT32', 8, 'IP')],
    ],
    [
      'another distance',
      ['ON', 'HASH', 'PREFIX', '1', keys.chunkPrefix, ...schema('FLAT', 'FLOAT32', 4, 'L2')],
    ],
    ['another type', ['ON', 'HASH', 'PREFIX', '1', keys.chunkPrefix, ...schema('FLAT', 'FLOAT16', 4, 'IP')]],
    [
      'another algorithm',
      ['ON', 'HASH', 'PREFIX', '1', keys.chunkPrefix, ...schema('HNSW', 'FLOAT32', 4, 'IP')],
    ],
    ['other keys', ['ON', 'HASH', 'PREFIX', '1', 'other:', ...schema('FLAT', 'FLOAT32', 4, 'IP')]],
    ['fewer fields', ['ON', 'HASH', 'PREFIX', '1', keys.chunkPrefix, 'SCHEMA', 'tags', 'TAG']],
  ])('an index of its name with %s is told of and built anew', async (_, how) => {
    const redis = await start();
    const client = await connect(redis);
    await client.sendCommand(['FT.CREATE', CHUNKS.name, ...how]);
    await fillIndex(redis.url, { ...MANY, documents: 10 });
    const { index, problems } = await open(redis);
    await until(isReady(index));
    expect(await chunkCount(index)).toBe(100);
    expect(problems).toEqual([
      ['an index of this name has another shape: it is built anew', { level: 'warn', index: CHUNKS.name }],
    ]);
  });

  test('an index of its own is taken as it is, whatever it says of itself', async () => {
    const redis = await start();
    const graph = { name: 'hnsw', m: 20, efConstruction: 123 } as const;
    for (const algorithm of [SPACE.algorithm, graph]) {
      for (const type of ['float32', 'float16'] as const) {
        const options = { algorithm, vectors: { field: 'vector', type } };
        await until(isReady((await open(redis, options)).index));
        const again = await open(redis, options);
        await until(isReady(again.index));
        expect(again.problems).toEqual([]);
      }
    }
  });
});

function schema(algorithm: string, type: string, dimensions: number, distance: string): string[] {
  const tags = ['tags', 'TAG', 'SEPARATOR', ',', 'CASESENSITIVE'];
  const generation = ['generation', 'TAG', 'SEPARATOR', ',', 'CASESENSITIVE'];
  const vector = ['TYPE', type, 'DIM', String(dimensions), 'DISTANCE_METRIC', distance];
  return ['SCHEMA', ...tags, ...generation, 'vector', 'VECTOR', algorithm, '6', ...vector];
}
