import { expect, test } from '@jest/globals';
import { createChunkCounts } from '../../../../src/shared/adapters/query-engine-index/chunk-search.js';
import { chooseEffort } from '../../../../src/shared/adapters/query-engine-index/chunk-query.js';

const TOTAL = 100_000;
const effortFor = (readable: number, limit = 12, total = TOTAL) =>
  chooseEffort({ efRuntime: 200, limit, readable, total });

test('few vectors are compared one by one, whatever their share is', () => {
  expect(effortFor(0)).toEqual({ type: 'all' });
  expect(effortFor(10_000)).toEqual({ type: 'all' });
  expect(effortFor(10_000, 12, 10_000)).toEqual({ type: 'all' });
});

test('a graph is walked with as many in view as are asked for, and more where fewer of them may be found', () => {
  expect(effortFor(TOTAL)).toEqual({ type: 'graph', inView: 200 });
  expect(effortFor(TOTAL, 400)).toEqual({ type: 'graph', inView: 400 });
  expect(effortFor(TOTAL / 2)).toEqual({ type: 'graph', inView: 400 });
  expect(effortFor(TOTAL / 4, 12)).toEqual({ type: 'graph', inView: 800 });
});

test('all are compared where a walk would take longer', () => {
  expect(effortFor(TOTAL / 4, 1_000)).toEqual({ type: 'all' });
  expect(effortFor(30_000, 12, 10_000_000)).toEqual({ type: 'all' });
});

test('counts that are older than the whole, because chunks were deleted, ask for no fewer in view', () => {
  expect(effortFor(TOTAL, 12, TOTAL / 2)).toEqual({ type: 'graph', inView: 200 });
});

test('a condition is counted once for the searches of a while, and again after an error', async () => {
  const asked: string[] = [];
  const counts = createChunkCounts((within) => {
    asked.push(within);
    return asked.length === 1 ? Promise.reject(new Error('gone')) : Promise.resolve(asked.length);
  });
  await expect(Promise.all([counts('a'), counts('a')])).rejects.toThrow('gone');
  expect(asked).toEqual(['a']);
  expect(await Promise.all([counts('a'), counts('a'), counts('b')])).toEqual([2, 2, 3]);
  expect(await counts('a')).toBe(2);
  expect(asked).toEqual(['a', 'a', 'b']);
});
