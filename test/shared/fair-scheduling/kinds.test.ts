import { expect, test } from '@jest/globals';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import { createTurns } from '../../../src/shared/fair-scheduling/turns.js';
import { useFakeClock } from '../../support/fake-clock.js';
import { createTakers } from '../../support/turn-takers.js';

const { pass } = useFakeClock();
const kinds = ['urgent', 'other'];
const urgent = { kind: 'urgent' };
const other = { kind: 'other' };

test('without a bound on overtaking, whoever came first goes first, of whatever kind', async () => {
  const { ask, end, begun } = createTakers(createTurns(1, { kinds }));
  await ask(['holder']);
  await pass(1);
  await ask(['ann'], other);
  await pass(1);
  await ask(['bob'], urgent);
  await pass(1);
  await ask(['cid'], other);
  await ask(['dan'], urgent);
  await end('holder', 'ann', 'bob');
  // These two came at the same time: the earlier kind goes first.
  await end('dan');
  expect(begun).toEqual(['holder', 'ann', 'bob', 'dan', 'cid']);
});

test('without a bound on overtaking, who has used least goes first, of whatever kind, and of equals who came first', async () => {
  const usage = createDecayedUsage();
  const { ask, end, begun } = createTakers(createTurns(1, { kinds, usage }));
  const endUse = usage.begin('heavy');
  await ask(['holder']);
  await pass(500);
  endUse();
  await ask(['heavy'], urgent);
  await pass(1);
  await ask(['ann'], other);
  await end('holder');
  expect(begun).toEqual(['holder', 'ann']);
  await ask(['bob'], other);
  await pass(1);
  await ask(['cid'], urgent);
  await end('ann', 'bob', 'cid');
  expect(begun.slice(2)).toEqual(['bob', 'cid', 'heavy']);
});

test('only what goes before one who waits counts as overtaking', async () => {
  const { ask, end, begun } = createTakers(createTurns(1, { kinds, maxOvertaking: 2 }));
  await ask(['ann 1', 'ann 2', 'ann 3'], urgent);
  await end('ann 1', 'ann 2');
  await ask(['bob'], other);
  await ask(['ann 4', 'ann 5', 'ann 6'], urgent);
  await end('ann 3', 'ann 4');
  expect(begun).toEqual(['ann 1', 'ann 2', 'ann 3', 'ann 4', 'ann 5']);
  await end('ann 5', 'bob');
  expect(begun.slice(5)).toEqual(['bob', 'ann 6']);
});

test('who has waited while so many went before does so once: then the others go first again', async () => {
  const { ask, end, begun } = createTakers(createTurns(1, { kinds, maxOvertaking: 1 }));
  await ask(['holder'], urgent);
  await ask(['bob 1', 'bob 2'], other);
  await ask(['ann 1', 'ann 2'], urgent);
  await end('holder', 'ann 1', 'bob 1', 'ann 2');
  expect(begun).toEqual(['holder', 'ann 1', 'bob 1', 'ann 2', 'bob 2']);
});

test('a request of no kind, or of one that there is not, is of the first kind', async () => {
  const { ask, end, begun } = createTakers(createTurns(1, { kinds, maxOvertaking: 9 }));
  await ask(['holder']);
  await ask(['bob'], other);
  await ask(['ann']);
  await ask(['cid'], { kind: 'unheard of' });
  await end('holder', 'ann', 'cid');
  expect(begun).toEqual(['holder', 'ann', 'cid', 'bob']);
});

test('where it is said which kind may begin, that alone decides, by how many of each kind have turns', async () => {
  const most: Record<string, number> = { urgent: 2, other: 1 };
  const turns = createTurns(1, {
    kinds,
    mayBegin: (kind, runningOf) => runningOf(kind) < (most[kind] ?? 0),
  });
  const { ask, end, begun } = createTakers(turns);
  await ask(['ann 1', 'ann 2', 'ann 3'], urgent);
  await ask(['bob 1', 'bob 2'], other);
  // Three have turns, although one of a caller may by the common number.
  expect(begun).toEqual(['ann 1', 'ann 2', 'bob 1']);
  expect(turns.figures()).toEqual({ running: 3, waiting: 2 });
  await end('bob 1');
  expect(begun.slice(3)).toEqual(['bob 2']);
  await end('ann 1');
  expect(begun.slice(4)).toEqual(['ann 3']);
});

test('nobody begins whose kind may not, though a place is free', async () => {
  let isOpen = false;
  const turns = createTurns(5, { kinds, mayBegin: (kind) => kind === 'urgent' || isOpen });
  const { ask, end, begun } = createTakers(turns);
  await ask(['bob'], other);
  await ask(['ann'], urgent);
  expect(begun).toEqual(['ann']);
  isOpen = true;
  await end('ann');
  expect(begun).toEqual(['ann', 'bob']);
});

test('a full queue counts those who wait of all kinds, and refuses one of the last kind first', async () => {
  const turns = createTurns(1, { kinds, maxWaiting: 2 });
  const { ask, errors } = createTakers(turns);
  await ask(['holder']);
  await ask(['ann'], other);
  await ask(['bob'], urgent);
  expect([...errors.keys()]).toEqual([]);
  await ask(['cid'], urgent);
  expect([...errors.keys()]).toEqual(['ann']);
  expect(turns.figures()).toEqual({ running: 1, waiting: 2 });
});
