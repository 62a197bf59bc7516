import { expect, test } from '@jest/globals';
import { createRerankPauses } from '../../../src/shared/models/reranking.js';

test('failures of one caller, however many, pause that caller alone; that of a second one pauses all', () => {
  const pauses = createRerankPauses();
  const failure = { pauseSeconds: null, isUnusual: false };
  for (let n = 0; n < 3; n += 1) pauses.noteFailure('one', failure);
  expect(['one', 'other'].map((caller) => pauses.isPaused(caller))).toEqual([true, false]);
  pauses.noteFailure('second', failure);
  expect(pauses.isPaused('other')).toBe(true);
});
