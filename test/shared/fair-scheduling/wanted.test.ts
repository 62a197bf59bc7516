import { expect, test } from '@jest/globals';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import { createTurns, type Standing, type Turn } from '../../../src/shared/fair-scheduling/turns.js';
import { useFakeClock } from '../../support/fake-clock.js';
import { createTakers } from '../../support/turn-takers.js';

const { pass } = useFakeClock();
const kinds = ['urgent', 'other'];
const urgent = { kind: 'urgent' };
const other = { kind: 'other' };

/** Returns the standing of a turn, which does not give up by being asked. */
function standingOf(turn: Turn): Standing | null {
  let standing: Standing | null = null;
  turn.isWanted((given) => {
    standing = given;
    return Infinity;
  });
  return standing;
}

test('a turn gives way to callers who have used less, not to those who have used as much or more, nor to its own', async () => {
  const usage = createDecayedUsage();
  const { ask, turn } = createTakers(createTurns(1, { usage }));
  const ends = [usage.begin('equal'), usage.begin('more'), usage.begin('more')];
  await ask(['ann']);
  await pass(1_000);
  for (const end of ends) end();
  const held = turn('ann');
  await ask(['ann again', 'equal', 'more', 'more again']);
  expect(standingOf(held)).toMatchObject({ before: 0 });
  expect(held.isWanted()).toBe(false);
  await ask(['less']);
  expect(standingOf(held)).toMatchObject({ before: 1 });
  expect(held.isWanted()).toBe(true);
});

test('a turn gives way to all who wait of an earlier kind, its own caller too, and to none of a later kind', async () => {
  const { ask, turn } = createTakers(createTurns(1, { kinds: ['first', 'second', 'third'] }));
  await ask(['ann'], { kind: 'second' });
  await ask(['bob 1', 'bob 2'], { kind: 'third' });
  // Nobody of the same kind goes before a turn that has begun where callers take turns.
  await ask(['cid 1'], { kind: 'second' });
  expect(standingOf(turn('ann'))).toMatchObject({ before: 0 });
  expect(turn('ann').isWanted()).toBe(false);
  await ask(['ann 2', 'ann 3'], { kind: 'first' });
  expect(standingOf(turn('ann'))).toMatchObject({ before: 2 });
  expect(turn('ann').isWanted()).toBe(true);
});

test('all who wait before a turn are counted: of earlier kinds, and every request of those who have used less', async () => {
  const { ask, turn } = createTakers(createTurns(1, { kinds, usage: createDecayedUsage() }));
  await ask(['ann'], other);
  await pass(1_000);
  await ask(['bob 1', 'bob 2', 'ann 2'], urgent);
  await ask(['cid 1', 'cid 2', 'dan 1', 'ann 3'], other);
  expect(standingOf(turn('ann'))).toMatchObject({ before: 6 });
});

test('a caller whose turn ends goes on paying for it: what it used counts against it from then on', async () => {
  const usage = createDecayedUsage();
  const { ask, end } = createTakers(createTurns(1, { usage }));
  await ask(['ann']);
  await pass(2_000);
  expect([usage.held('ann'), usage.used('ann')]).toEqual([1, 2]);
  await end('ann', 'ann');
  await pass(300_000);
  expect([usage.held('ann'), usage.used('ann')]).toEqual([0, 1]);
});

test('no more turns are told to end than wait, and who was told so once is told so again', async () => {
  const { ask, turn, end } = createTakers(createTurns(3, { usage: createDecayedUsage() }));
  await ask(['ann', 'bob', 'cid']);
  await pass(1_000);
  const leaving = new AbortController();
  await ask(['new 1'], { signal: leaving.signal });
  const wanted = () => ['ann', 'bob', 'cid'].map((name) => turn(name).isWanted());
  expect(turn('bob').isWanted()).toBe(true);
  expect(wanted()).toEqual([false, true, false]);
  await ask(['new 2']);
  expect(wanted()).toEqual([true, true, false]);
  // The turn that was asked to end still has to, although somebody has left.
  leaving.abort(new Error('left'));
  expect(wanted()).toEqual([true, true, false]);
  await end('bob');
  expect(turn('cid').isWanted()).toBe(false);
});

test('a turn lasts as long as it is told to at least, and ends exactly then', async () => {
  const { ask, turn } = createTakers(createTurns(1, { kinds }));
  await pass(10_000);
  await ask(['ann'], other);
  await ask(['bob'], urgent);
  await pass(4_999);
  expect(turn('ann').isWanted(() => 5_000)).toBe(false);
  await pass(1);
  expect(turn('ann').isWanted(() => 5_000)).toBe(true);
});

test('without such a time a turn gives way at once', async () => {
  const { ask, turn } = createTakers(createTurns(1, { kinds }));
  await ask(['ann'], other);
  expect(turn('ann').isWanted()).toBe(false);
  await ask(['bob'], urgent);
  expect(turn('ann').isWanted()).toBe(true);
});

test('the turn that began last of several places that are all taken is the last one', async () => {
  const { ask, turn, end } = createTakers(createTurns(2));
  await ask(['ann 1']);
  expect(standingOf(turn('ann 1'))).toEqual({ before: 0, isLast: false, hasAll: false });
  await ask(['ann 2']);
  expect(standingOf(turn('ann 1'))).toEqual({ before: 0, isLast: false, hasAll: true });
  expect(standingOf(turn('ann 2'))).toEqual({ before: 0, isLast: true, hasAll: true });
  await end('ann 1');
  expect(standingOf(turn('ann 2'))).toEqual({ before: 0, isLast: false, hasAll: false });
  await ask(['bob 1']);
  expect(standingOf(turn('ann 2'))).toEqual({ before: 0, isLast: false, hasAll: false });
  expect(standingOf(turn('bob 1'))).toEqual({ before: 0, isLast: true, hasAll: false });
});

test('the only place is not one of several: its turn is neither the last nor all of them', async () => {
  const { ask, turn } = createTakers(createTurns(1));
  await ask(['ann 1', 'ann 2']);
  expect(standingOf(turn('ann 1'))).toEqual({ before: 0, isLast: false, hasAll: false });
});

test('turns of kinds that hold no place are none of those that are taken, and none that are left for who waits', async () => {
  const turns = createTurns(2, {
    kinds: ['slow', 'quick'],
    holding: ['slow'],
    usage: createDecayedUsage(),
    mayBegin: (kind, runningOf) => kind === 'quick' || runningOf('slow') < 2,
  });
  const { ask, turn } = createTakers(turns);
  await ask(['ann 1'], { kind: 'slow' });
  await ask(['bob 1'], { kind: 'quick' });
  expect(standingOf(turn('ann 1'))).toMatchObject({ isLast: false, hasAll: false });
  await ask(['ann 2'], { kind: 'slow' });
  await ask(['bob 2'], { kind: 'quick' });
  expect(standingOf(turn('ann 2'))).toMatchObject({ isLast: true, hasAll: true });
  await pass(1_000);
  await ask(['new 1'], { kind: 'slow' });
  // The quick one ends anyhow, and leaves no place to the slow one.
  expect(turn('bob 2').isWanted()).toBe(true);
  expect(turn('ann 2').isWanted()).toBe(true);
});
