import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createChunkCounts } from '../../../../src/shared/adapters/query-engine-index/chunk-search.js';

/** Counts that are answered when the test says so. */
function createCounts() {
  const asked: { readonly answer: (count: number) => void; readonly fail: () => void }[] = [];
  let time = 0;
  const read = () =>
    new Promise<number>((resolve, reject) => {
      asked.push({ answer: resolve, fail: () => reject(new Error('no engine')) });
    });
  const counts = createChunkCounts(read, () => time);
  return {
    counts,
    asked,
    wait: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}

test('searches of one condition share its first count', async () => {
  const { counts, asked } = createCounts();
  const both = Promise.all([counts('@a'), counts('@a')]);
  asked[0]?.answer(7);
  expect(await both).toEqual([7, 7]);
  expect(asked).toHaveLength(1);
});

test('nobody waits while an old count is made anew, once', async () => {
  const { counts, asked, wait } = createCounts();
  const first = counts('@a');
  asked[0]?.answer(7);
  await first;
  wait(61_000);
  expect(await Promise.all([counts('@a'), counts('@a')])).toEqual([7, 7]);
  expect(asked).toHaveLength(2);
  asked[1]?.answer(9);
  await nextTurn();
  expect(await counts('@a')).toBe(9);
});

test('a first count that fails is asked for again, and one that cannot be made anew keeps the old', async () => {
  const { counts, asked, wait } = createCounts();
  const failing = counts('@a');
  asked[0]?.fail();
  await expect(failing).rejects.toThrow('no engine');
  const second = counts('@a');
  asked[1]?.answer(7);
  await second;
  wait(61_000);
  await counts('@a');
  asked[2]?.fail();
  await nextTurn();
  expect(await counts('@a')).toBe(7);
});
