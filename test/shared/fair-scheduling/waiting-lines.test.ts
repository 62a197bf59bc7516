import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { UnavailableError } from '../../../src/shared/errors.js';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import {
  createTurns,
  createWaitingLines,
  refuseNewest,
  wait,
} from '../../../src/shared/fair-scheduling/turns.js';
import { useFakeClock } from '../../support/fake-clock.js';
import { createTakers } from '../../support/turn-takers.js';

const { pass } = useFakeClock();

test('a caller whose requests all had turns, or left, waits no more: the next one has a free place at once', async () => {
  const turns = createTurns(1);
  const { ask, end, begun } = createTakers(turns);
  const leaving = new AbortController();
  await ask(['ann 1', 'ann 2']);
  await ask(['bob 1', 'bob 2'], { signal: leaving.signal });
  leaving.abort(new Error('left'));
  await end('ann 1', 'ann 2');
  expect(turns.figures()).toEqual({ running: 0, waiting: 0 });
  await ask(['ann 3']);
  await end('ann 3');
  await ask(['bob 3']);
  expect(begun).toEqual(['ann 1', 'ann 2', 'ann 3', 'bob 3']);
});

test('who leaves is missed by nobody: the others of its caller and of others come in the same order', async () => {
  const { ask, end, begun, errors } = createTakers(createTurns(1));
  const leaving = new AbortController();
  await ask(['holder', 'ann 1']);
  await ask(['ann 2', 'bob 1'], { signal: leaving.signal });
  await ask(['ann 3', 'cid 1', 'bob 2']);
  leaving.abort(new Error('left'));
  await end('holder', 'ann 1', 'bob 2', 'cid 1');
  expect(begun).toEqual(['holder', 'ann 1', 'bob 2', 'cid 1', 'ann 3']);
  expect([...errors]).toEqual([
    ['ann 2', new Error('left')],
    ['bob 1', new Error('left')],
  ]);
});

test('a signal that lives long keeps nothing of those who had a turn, were refused, or left', async () => {
  const { ask, end, errors } = createTakers(createTurns(1, { maxWaiting: 2 }));
  const leaving = new AbortController();
  const listeners = () => getEventListeners(leaving.signal, 'abort').length;
  const { signal } = leaving;
  await ask(['ann 1', 'ann 2', 'ann 3'], { signal });
  expect(listeners()).toBe(2);
  await ask(['ann 4'], { signal });
  expect([...errors.keys()]).toEqual(['ann 4']);
  expect(listeners()).toBe(2);
  await end('ann 1');
  expect(listeners()).toBe(1);
  leaving.abort(new Error('left'));
  expect(listeners()).toBe(0);
});

test('of callers who have used as much, the one goes first who has waited longest; half a second is a difference', async () => {
  const usage = createDecayedUsage();
  const { ask, end, begun } = createTakers(createTurns(1, { usage }));
  await ask(['holder']);
  const endUse = usage.begin('heavy');
  await pass(500);
  endUse();
  await ask(['heavy', 'ann', 'bob', 'cid']);
  await end('holder', 'ann', 'bob', 'cid');
  expect(begun).toEqual(['holder', 'ann', 'bob', 'cid', 'heavy']);
});

test('as many wait as may, and the next one is refused by name; a turn that ends makes room for one', async () => {
  const { ask, end, errors } = createTakers(createTurns(1, { maxWaiting: 2, name: 'index' }));
  await ask(['holder', 'ann', 'bob']);
  expect(errors.size).toBe(0);
  await ask(['cid']);
  expect([...errors]).toEqual([['cid', new UnavailableError('index')]]);
  await end('holder');
  await ask(['dan']);
  expect([...errors.keys()]).toEqual(['cid']);
  await ask(['eve']);
  expect([...errors.keys()]).toEqual(['cid', 'eve']);
});

test('what nobody has named is refused as a queue', async () => {
  const { ask, errors } = createTakers(createTurns(1, { maxWaiting: 0 }));
  await ask(['holder', 'ann']);
  expect([...errors]).toEqual([['ann', new UnavailableError('queue')]]);
});

test('one that has begun before puts nobody out, though it is more than may wait', async () => {
  const turns = createTurns(1, { maxWaiting: 2 });
  const { ask, errors } = createTakers(turns);
  await ask(['holder', 'ann', 'bob']);
  await ask(['cid 1', 'cid 2'], { hasBegun: true });
  expect(errors.size).toBe(0);
  expect(turns.figures()).toEqual({ running: 1, waiting: 4 });
  // The next one is refused itself: the longest line holds only callers who have begun.
  await ask(['dan']);
  expect([...errors.keys()]).toEqual(['dan']);
});

test('of a line, the newest of those is refused who have not begun before', async () => {
  const { ask, errors } = createTakers(createTurns(1, { maxWaiting: 3 }));
  await ask(['holder', 'ann 1', 'ann 2']);
  await ask(['ann 3'], { hasBegun: true });
  await ask(['bob']);
  expect([...errors.keys()]).toEqual(['ann 2']);
});

test('where all have begun before, or nobody waits, nobody is refused', async () => {
  const queue = createWaitingLines();
  refuseNewest([queue], new Error('full'));
  const waiter = { by: 'ann', isKept: true, signal: undefined, begin: () => 'turn' };
  let settled = 0;
  const count = () => (settled += 1);
  wait(queue, waiter).then(count, count);
  refuseNewest([createWaitingLines(), queue], new Error('full'));
  await pass(0);
  expect(settled).toBe(0);
  expect(queue.waiting).toBe(1);
});
