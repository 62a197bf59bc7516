import { expect, test } from '@jest/globals';
import type { Turn } from '../../../src/shared/fair-scheduling/turns.js';
import { createPageTurns } from '../../../src/workers/pages/page-turns.js';

test('in the second place, one page of a caller stays in line after its request has left, and no other does', async () => {
  const { enterSecond } = createPageTurns();
  const { signal } = new AbortController();
  const enter = async (by: string, isWanted: () => boolean): Promise<Turn> => {
    const turn = await enterSecond(by, { isWanted: () => Promise.resolve(isWanted()), signal });
    if (turn === 'left') throw new Error('left');
    return turn;
  };
  const other = await enter('bob', () => true);
  const asked = { isWaiting: true };
  const first = enter('ann', () => asked.isWaiting);
  const second = enter('ann', () => asked.isWaiting);
  // Both stand in line before their requests leave.
  await new Promise(setImmediate);
  asked.isWaiting = false;
  await expect(second).rejects.toThrow('left');
  other.end();
  const turn = await first;
  turn.end();
  // One that comes later may stay again.
  const next = await enter('ann', () => true);
  next.end();
});
