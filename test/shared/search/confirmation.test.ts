import { describe, expect, test } from '@jest/globals';
import { keys } from '../../../src/shared/redis/keys.js';
import { compareCandidates } from '../../../src/shared/search/candidates.js';
import { createConfirmation, STATE_KEYS, stateArguments } from '../../../src/shared/search/read-hits.js';

describe('the state of the data that candidates were found in', () => {
  const state = { server: 'run', epoch: 'epoch', sequence: 7 };

  test('is left to be confirmed until it is, and each search notes its own', () => {
    const confirmation = createConfirmation();
    expect(confirmation.state).toBeNull();
    confirmation.onUnconfirmed?.(state);
    expect(confirmation.state).toBe(state);
    confirmation.confirm();
    expect(confirmation.state).toBeNull();
    confirmation.onUnconfirmed?.({ ...state, sequence: 8 });
    expect(confirmation.state?.sequence).toBe(8);
  });

  test('must be certain from the beginning once candidates were outdated', () => {
    const confirmation = createConfirmation();
    confirmation.onUnconfirmed?.(state);
    confirmation.giveUp();
    expect(confirmation.state).toBeNull();
    expect(confirmation.onUnconfirmed).toBeUndefined();
  });

  test('is compared by the server, the epoch and the number of the last change, and nothing is where there is none', () => {
    expect(STATE_KEYS).toEqual({ epoch: keys.epoch, sequence: keys.sequence });
    expect(stateArguments(state)).toEqual({ server: 'run_id:run', ofEpoch: 'epoch', ofSequence: 7 });
    expect(stateArguments(null)).toEqual({ server: '', ofEpoch: '', ofSequence: '' });
  });
});

test('candidates are ordered by score, then document, then number', () => {
  const of = (documentId: string, number: number, score: number) => {
    return { documentId, number, score, generation: 'g' };
  };
  const ordered = [of('b', 9, 0.9), of('a', 1, 0.5), of('a', 2, 0.5), of('b', 0, 0.5), of('a', 0, 0.1)];
  expect(ordered.toReversed().sort(compareCandidates)).toEqual(ordered);
  for (const [i, one] of ordered.entries())
    for (const [j, other] of ordered.entries())
      expect(Math.sign(compareCandidates(one, other))).toBe(Math.sign(i - j));
});
