import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '../../../../src/shared/document.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import type { Index } from '../../../../src/shared/ports.js';
import { parsed } from '../../../contracts/index-data.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import type { TestRedis } from '../../../support/redis.js';
import { documents, putDocument, questionAbout } from '../../../support/search-arbitraries.js';
import { compareEngines } from '../../../support/search-comparison.js';
import { openSearchWorld, WORLD_MODEL, type SearchWorld } from '../../../support/search-world.js';
import { until } from '../../../support/until.js';

describeWithQueryEngine('the largest filters that the API lets through', (engine) => {
  let redis: TestRedis;
  let world: SearchWorld;
  let index: Index;

  beforeAll(async () => {
    redis = await startQueryEngine(engine);
    const { model, dimensions } = WORLD_MODEL;
    world = await openSearchWorld(redis.url);
    index = await openQueryEngineIndex(redis.url, { model, dimensions: () => Promise.resolve(dimensions) });
    await until(async () => (await index.state()) === 'ready');
    for (let n = 0; n < 60; n += 1) {
      const metadata: Record<string, Json> = {
        n,
        s: `text ${String(n)}`,
        [`only${String(n)}`]: true,
        list: [n, -n],
      };
      const id = await world.create({ metadata });
      await world.publish(id, [`harbour ${String(n)}`, 'crane ledger']);
    }
  });
  afterAll(async () => {
    await index.close();
    world.close();
    await redis.stop();
  });

  const numbers = (count: number, of: (i: number) => unknown) =>
    Array.from({ length: count }, (_, i) => of(i));
  const deep = (levels: number, innermost: unknown): unknown =>
    levels === 0
      ? innermost
      : { [levels % 2 === 0 ? '$or' : '$and']: [deep(levels - 1, innermost), { n: { $gt: 50 } }] };
  const negated = (levels: number, innermost: unknown): unknown =>
    levels === 0 ? innermost : { $not: negated(levels - 1, innermost) };

  test.each<[string, unknown, number]>([
    ['a list of 1,000 values', { n: { $in: numbers(1_000, (i) => i + 30) } }, 30],
    ['a list of 1,000 values that must not be', { n: { $nin: numbers(1_000, (i) => i + 30) } }, 30],
    ['a list of 1,000 texts of an odd kind', { s: { $in: numbers(1_000, (i) => `text ${String(i)}`) } }, 60],
    [
      '40 lists of 1,000 values',
      { $or: numbers(40, (list) => ({ n: { $in: numbers(1_000, (i) => 1_000 * list + i + 30) } })) },
      30,
    ],
    [
      '64 conditions of which one must hold',
      { $or: numbers(64, (i) => ({ [`only${String(i)}`]: true })) },
      60,
    ],
    ['64 conditions that must hold', { $and: numbers(64, (i) => ({ n: { $ne: i + 10 } })) }, 10],
    ['64 ranges of which one must hold', { $or: numbers(64, (i) => ({ n: { $gt: i + 20 } })) }, 39],
    ['64 ranges that must hold', { $and: numbers(64, (i) => ({ list: { $lte: i } })) }, 60],
    ['64 ranges that must not hold', { $not: { $or: numbers(64, (i) => ({ n: { $gt: i + 20 } })) } }, 21],
    [
      '64 lists of 1,000 values of which one must hold',
      { $or: numbers(64, (i) => ({ n: { $in: numbers(1_000, (j) => j + i + 40) } })) },
      20,
    ],
    [
      '64 lists of 1,000 values that must all hold',
      { $and: numbers(64, (i) => ({ n: { $in: numbers(1_000, (j) => j + i - 20) } })) },
      17,
    ],
    [
      '64 lists of 1,000 values of which none may hold',
      { $not: { $or: numbers(64, (i) => ({ n: { $in: numbers(1_000, (j) => j + i + 40) } })) } },
      40,
    ],
    ['eight levels of alternatives', deep(8, { n: 1 }), 9],
    ['eight levels of negation', negated(8, { n: 1 }), 1],
    ['seven levels of negation', negated(7, { n: 1 }), 59],
  ])('%s', async (_, filter, expected) => {
    const json = filter as Record<string, unknown>;
    const ask = { callerId: 'owner', query: 'harbour 3', minScore: 0, skip: 0 } as const;
    expect(await compareEngines(world, [index], { ...ask, per: 'chunk', k: 100, filter: json })).toBe(
      expected,
    );
    expect(await compareEngines(world, [index], { ...ask, per: 'document', k: 3, filter: json })).toBe(
      expected,
    );
  });

  test('documents whose records are read a few at a time are all compared with the filter', async () => {
    const asked: number[] = [];
    const records = createRecords(world.redis);
    const few = await openQueryEngineIndex(redis.url, {
      model: WORLD_MODEL.model,
      dimensions: () => Promise.resolve(WORLD_MODEL.dimensions),
      readRecords: (ids) => {
        asked.push(ids.length);
        return records.readMany(ids.slice(0, 7));
      },
    });
    try {
      await until(async () => (await few.state()) === 'ready');
      const selection = { principal: { id: 'owner' }, filter: parsed({ n: { $gte: 20 } }) };
      expect(await few.count(selection)).toBe(40);
      expect((await few.list({ ...selection, skip: 0, limit: 100 })).ids).toHaveLength(40);
    } finally {
      await few.close();
    }
    expect(asked.length).toBeGreaterThanOrEqual(2 * Math.ceil(40 / 7));
  });
});

describeWithQueryEngine('vectors of two bytes a component', (engine) => {
  test.each([{ name: 'flat' as const }, { name: 'hnsw' as const, m: 16, efConstruction: 200 }])(
    'give the same answers, to the precision that they have: $name',
    async (algorithm) => {
      const redis = await startQueryEngine(engine);
      const vectors = { field: 'vector-2', type: 'float16' } as const;
      const world = await openSearchWorld(redis.url, vectors);
      const { model, dimensions } = WORLD_MODEL;
      const index = await openQueryEngineIndex(redis.url, {
        model,
        vectors,
        algorithm,
        dimensions: () => Promise.resolve(dimensions),
      });
      try {
        await until(async () => (await index.state()) === 'ready');
        const [data] = fc.sample(documents, { numRuns: 1, seed: 7 });
        for (const each of data ?? []) await putDocument(world, each);
        const tolerance = { score: 2e-3, cut: 4e-3 };
        const questions = fc.sample(questionAbout(data ?? []), 100);
        let answered = 0;
        for (const asked of questions) {
          if ((await compareEngines(world, [index], { ...asked, tolerance })) > 0) answered += 1;
        }
        expect(answered).toBeGreaterThan(25);
      } finally {
        await index.close();
        world.close();
        await redis.stop();
      }
    },
  );
});
