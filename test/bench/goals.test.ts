import { expect, test } from '@jest/globals';
import { goalTable, type Measured } from '../../bench/parts/goals.js';

function row(what: string, measured: Measured) {
  return goalTable(measured).find((each) => each.what.startsWith(what));
}

test('a ratio of at least 1 reaches a goal, whichever way its bound is', () => {
  const measured: Measured = { 'batch ingest': { value: 1_000 }, 'p50 at 15000': { value: 1 } };
  expect(row('ingest to searchable, batches', measured)).toMatchObject({ ratio: 0.5, reached: false });
  expect(row('search by words, 15,000 chunks, 1 client', measured)).toMatchObject({
    ratio: 2,
    reached: true,
  });
});

test('what was measured otherwise than the goal says neither reaches nor misses it', () => {
  const found = row('speed of ingest', { growth: { value: 1, but: 'at 20000 chunks' } });
  expect(found).toMatchObject({ measured: '1 × (at 20000 chunks)', ratio: 1.11, reached: null });
});

test('a goal that was not measured says so', () => {
  expect(row('the whole service idle', {})).toMatchObject({ measured: 'not measured', reached: null });
});
