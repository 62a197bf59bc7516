import { expect, test } from '@jest/globals';
import { createTurns } from '../../../src/shared/fair-scheduling/turns.js';
import { useFakeClock } from '../../support/fake-clock.js';
import { createTakers } from '../../support/turn-takers.js';

const { pass } = useFakeClock();

test('a caller alone has exactly as many turns as one may have alone, and passes on each that ends', async () => {
  await pass(1);
  const { ask, end, begun } = createTakers(createTurns(2, { maxAlone: 4 }));
  await ask(['ann 1', 'ann 2', 'ann 3', 'ann 4', 'ann 5', 'ann 6']);
  expect(begun).toEqual(['ann 1', 'ann 2', 'ann 3', 'ann 4']);
  await end('ann 2');
  expect(begun.slice(4)).toEqual(['ann 5']);
});

test('newcomers have a first turn beyond what one had alone, of the common number more and not one more', async () => {
  await pass(1);
  const { ask, end, begun } = createTakers(createTurns(2, { maxAlone: 4 }));
  await ask(['ann 1', 'ann 2', 'ann 3', 'ann 4', 'bob 1', 'bob 2', 'cid 1', 'dan 1']);
  expect(begun.slice(4)).toEqual(['bob 1', 'cid 1']);
  // Six have turns. Five are not enough for a second one of bob, and are for the first of dan.
  await end('ann 1');
  expect(begun.slice(6)).toEqual(['dan 1']);
  await end('ann 2', 'ann 3', 'ann 4', 'cid 1');
  expect(begun.slice(7)).toEqual([]);
  await end('dan 1');
  expect(begun.slice(7)).toEqual(['bob 2']);
});

test('where one may have no more alone than together with others, newcomers wait as all do', async () => {
  await pass(1);
  const { ask, begun } = createTakers(createTurns(2));
  await ask(['ann 1', 'ann 2', 'bob 1']);
  expect(begun).toEqual(['ann 1', 'ann 2']);
});

test('for a second after others came a caller is not alone, however often it asks itself', async () => {
  const { ask, end, begun, errors } = createTakers(createTurns(1, { maxAlone: 9 }));
  const askAndLeave = async (name: string) => {
    const leaving = new AbortController();
    await ask([name], { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await pass(0);
  };
  await pass(1);
  await ask(['ann 1', 'bob 1']);
  await end('bob 1');
  await pass(400);
  // The last time that a caller came after another.
  await askAndLeave('ann 2');
  await pass(601);
  await askAndLeave('ann 3');
  await pass(399);
  await askAndLeave('ann 4');
  expect([...errors.keys()]).toEqual(['ann 2', 'ann 3', 'ann 4']);
  await pass(1);
  await ask(['ann 5', 'ann 6']);
  expect(begun).toEqual(['ann 1', 'bob 1', 'ann 5', 'ann 6']);
});

test('requests of a caller keep their order, also when another of its requests could begin at once', async () => {
  const { ask, end, begun } = createTakers(createTurns(1, { maxAlone: 3 }));
  await pass(1);
  await ask(['ann 1', 'bob 1', 'ann 2']);
  await end('bob 1');
  await pass(1_001);
  await ask(['ann 3']);
  expect(begun).toEqual(['ann 1', 'bob 1']);
  await end('ann 1');
  expect(begun.slice(2)).toEqual(['ann 2', 'ann 3']);
});

test('with a share of each caller, who is alone has its larger one, and company leaves it the smaller one', async () => {
  const turns = createTurns(4, { maxPerCaller: 2, maxAlone: 3 });
  const { ask, end, begun } = createTakers(turns);
  await ask(['ann 1', 'ann 2', 'ann 3', 'ann 4']);
  expect(begun).toEqual(['ann 1', 'ann 2', 'ann 3']);
  await ask(['bob 1', 'bob 2']);
  expect(begun.slice(3)).toEqual(['bob 1']);
  await end('ann 1');
  expect(begun.slice(4)).toEqual(['bob 2']);
  await end('ann 2');
  // One place is free: ann has one turn, of the two that she may have.
  expect(begun.slice(5)).toEqual(['ann 4']);
  await ask(['ann 5', 'bob 3', 'cid 1', 'dan 1']);
  expect(turns.figures()).toEqual({ running: 4, waiting: 4 });
  await end('ann 3');
  expect(begun.slice(6)).toEqual(['ann 5']);
});

test('whoever has become alone has all turns at once that one may have alone', async () => {
  const { ask, end, begun } = createTakers(createTurns(4, { maxPerCaller: 1, maxAlone: 3 }));
  await ask(['ann 1', 'bob 1', 'ann 2', 'ann 3', 'ann 4']);
  expect(begun).toEqual(['ann 1', 'bob 1']);
  await end('bob 1');
  expect(begun.slice(2)).toEqual(['ann 2', 'ann 3']);
});

test('a caller whose share is used up is passed by the next one', async () => {
  const { ask, end, begun } = createTakers(createTurns(4, { maxPerCaller: 2 }));
  await ask(['bob 1', 'eve 1', 'ann 1', 'ann 2', 'ann 3', 'cid 1']);
  expect(begun).toEqual(['bob 1', 'eve 1', 'ann 1', 'ann 2']);
  await end('bob 1');
  expect(begun.slice(4)).toEqual(['cid 1']);
  await end('cid 1');
  expect(begun.slice(5)).toEqual([]);
  // Alone, she may have all four.
  await end('eve 1');
  expect(begun.slice(5)).toEqual(['ann 3']);
});
