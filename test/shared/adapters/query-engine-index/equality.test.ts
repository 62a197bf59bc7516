import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import type { Index } from '../../../../src/shared/ports.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import type { TestRedis } from '../../../support/redis.js';
import { documents, putDocument, questionAbout } from '../../../support/search-arbitraries.js';
import { compareEngines, type Question } from '../../../support/search-comparison.js';
import { openSearchWorld, WORLD_MODEL, type SearchWorld } from '../../../support/search-world.js';
import { until } from '../../../support/until.js';

const DATA_SETS = 40;
const QUESTIONS = 50;
const AT_ONCE = 10;

/** Data and questions about it. */
const cases = documents.chain((all) =>
  fc.tuple(fc.constant(all), fc.array(questionAbout(all), { minLength: QUESTIONS, maxLength: QUESTIONS })),
);

/** Asks some of the questions at a time; answers how many had an answer. */
async function inTurns(
  questions: readonly Question[],
  ask: (question: Question) => Promise<number>,
): Promise<number> {
  let answered = 0;
  for (let first = 0; first < questions.length; first += AT_ONCE) {
    const counts = await Promise.all(questions.slice(first, first + AT_ONCE).map(ask));
    answered += counts.filter((count) => count > 0).length;
  }
  return answered;
}

describeWithQueryEngine('the exact index, the Query Engine and a plain scan', (engine) => {
  let redis: TestRedis;
  let world: SearchWorld;
  let engines: readonly Index[] = [];

  beforeAll(async () => {
    // Nothing here crashes: without the wait for the disk.
    redis = await startQueryEngine(engine);
    const { model, dimensions } = WORLD_MODEL;
    world = await openSearchWorld(redis.url);
    engines = [
      await createExactIndex({ redisUrl: redis.url }),
      await openQueryEngineIndex(redis.url, { model, dimensions: () => Promise.resolve(dimensions) }),
    ];
    for (const each of engines) await until(async () => (await each.state()) === 'ready');
  });
  afterAll(async () => {
    await Promise.all(engines.map((each) => each.close()));
    world.close();
    await redis.stop();
  });

  const compare = (asked: Question) => compareEngines(world, engines, asked);

  test(`give the same answers to ${String(DATA_SETS * QUESTIONS)} random questions`, async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ([all, questions]) => {
        try {
          for (const each of all) await putDocument(world, each);
          answered += await inTurns(questions, compare);
        } finally {
          await world.clear();
        }
      }),
      { numRuns: DATA_SETS, endOnFailure: true },
    );
    // Questions that nothing answers prove little.
    expect(answered).toBeGreaterThan((DATA_SETS * QUESTIONS) / 4);
  });

  test('give the same answers over ten thousand keys that nobody declared', async () => {
    const KEYS = 10_000;
    const KEYS_EACH = 100;
    const keyOf = (i: number) =>
      i % 3 === 0 ? `key ${String(i)}` : `group${String(i % 97)}.key${String(i)}`;
    const valueOf = (i: number) => [i, `value ${String(i)}`, [i, 'in a list'], i % 2 === 0][i % 4] ?? null;
    for (let first = 0; first < KEYS; first += KEYS_EACH) {
      const numbers = Array.from({ length: KEYS_EACH }, (_, i) => first + i);
      const metadata = Object.fromEntries(numbers.map((i) => [keyOf(i), valueOf(i)]));
      const id = await world.create({ metadata: { ...metadata, everywhere: first } });
      await world.publish(id, ['harbour crane', 'ledger']);
    }
    const ask = { callerId: 'owner', query: 'harbour', minScore: 0, per: 'chunk', skip: 0, k: 100 } as const;
    const filters = Array.from({ length: 30 }, (_, i) => i * 331).flatMap((i): Record<string, unknown>[] => [
      { [keyOf(i)]: { $in: [i, `value ${String(i)}`, true, false] } },
      { [keyOf(i)]: { $exists: i % 5 !== 0 } },
      { $or: [{ [keyOf(i)]: { $gte: i } }, { everywhere: i - (i % KEYS_EACH) }] },
      { $not: { $or: [{ [keyOf(i)]: { $exists: true } }, { everywhere: { $gt: i } }] } },
    ]);
    const answered = await inTurns(
      filters.map((filter) => ({ ...ask, filter })),
      compare,
    );
    await world.clear();
    expect(answered).toBeGreaterThan(100);
  });
});
