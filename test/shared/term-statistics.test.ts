import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../src/shared/keys.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';
import { createTermStatistics, type TermStatisticsStore } from '../../src/shared/term-statistics.js';
import { analyzeText, packTerms } from '../../src/shared/terms.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;
let statistics: TermStatisticsStore;

beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  statistics = createTermStatistics(redis);
});

afterAll(async () => {
  await redis.close();
  await server.stop();
});

const pack = (text: string) => packTerms(analyzeText(text));
const termOf = (word: string) => [...analyzeText(word).counts.keys()][0] ?? 0;

async function openGeneration(generation: string) {
  await redis.hSet(keys.generation(generation), 'document', 'd');
}

describe('term statistics', () => {
  test('counting a batch twice counts it once, forgetting it twice forgets it once', async () => {
    await openGeneration('g1');
    const batch = { generation: 'g1', batch: 0, terms: [pack('apple banana apple'), pack('banana')] };
    await statistics.count(batch, 'ann');
    await statistics.count(batch, 'ann');
    const [apple, banana] = [termOf('apple'), termOf('banana')];
    const counted = await statistics.read('ann', [apple, banana, 7]);
    expect(counted).toMatchObject({ chunks: 2, totalLength: 4 });
    expect([...counted.frequencies.values()]).toEqual([1, 2, 0]);
    expect(await statistics.countedFor('g1', 2)).toEqual(['ann', null]);
    await statistics.forget(batch, 'ann');
    await statistics.forget(batch, 'ann');
    expect(await statistics.read('ann', [apple])).toMatchObject({ chunks: 0, totalLength: 0 });
    expect(await redis.hExists(keys.statistics('ann'), String(apple))).toBe(0);
  });

  test('thousands of terms, in one chunk or several, are counted as they occur, and forgotten without a trace', async () => {
    const words = Array.from({ length: 5_000 }, (_, i) => `word${String(i)}`);
    const terms = [pack(words.join(' ')), pack(words.slice(0, 2_500).join(' ')), pack('word0')];
    const wanted = [termOf('word0'), termOf('word1'), termOf('word4999')];
    for (const [batch, chunks] of [terms, terms.slice(0, 1)].entries()) {
      const counted = { generation: `many-${String(batch)}`, batch, terms: chunks };
      await openGeneration(counted.generation);
      await statistics.count(counted, 'mia');
      const { frequencies } = await statistics.read('mia', wanted);
      expect([...frequencies.values()]).toEqual(batch === 0 ? [3, 2, 1] : [1, 1, 1]);
      await statistics.forget(counted, 'mia');
      expect(await redis.hGetAll(keys.statistics('mia'))).toEqual({ chunks: '0', length: '0' });
    }
  });

  test('a discarded generation is not counted, and what was counted for another owner is not forgotten', async () => {
    await openGeneration('g2');
    const batch = { generation: 'g2', batch: 0, terms: [pack('cherry')] };
    await statistics.count(batch, 'bob');
    await statistics.forget(batch, 'eve');
    expect(await statistics.read('bob', [])).toMatchObject({ chunks: 1 });
    await redis.hSet(keys.generation('g2'), 'discarded', '1');
    await statistics.count({ ...batch, batch: 1 }, 'bob');
    await statistics.count({ ...batch, generation: 'never-opened' }, 'bob');
    expect(await statistics.read('bob', [])).toMatchObject({ chunks: 1 });
  });
});
