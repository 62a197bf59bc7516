import { expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { createEarlyAnswers } from '../../../../src/shared/adapters/exact-index/early-answers.js';

function setUp() {
  const world = { changes: 0, isWhole: true, now: 0, computed: 0 };
  const early = createEarlyAnswers({
    changes: () => world.changes,
    isWhole: () => world.isWhole,
    now: () => world.now,
  });
  const ask = (untilFresh: Promise<unknown> = Promise.resolve()) =>
    early.during(untilFresh, () => {
      world.computed += 1;
      return `as of ${String(world.changes)}`;
    });
  return { world, ask };
}

test('an answer is computed while changes are asked for, and holds without any', async () => {
  const { world, ask } = setUp();
  world.now = 1_000;
  let tell: (value: null) => void = () => undefined;
  const asked = ask(new Promise((resolve) => (tell = resolve)));
  await turn();
  expect(world.computed).toBe(1);
  tell(null);
  expect(await asked).toBe('as of 0');
});

test('it does not hold after a change, or while something is missing', async () => {
  const { world, ask } = setUp();
  world.now = 1_000;
  const changed = turn()
    .then(() => turn())
    .then(() => (world.changes += 1));
  expect(await ask(changed)).toBeNull();
  expect(world.computed).toBe(1);
  world.now = 2_000;
  world.isWhole = false;
  expect(await ask()).toBeNull();
});

test('nothing is computed early while changes come', async () => {
  const { world, ask } = setUp();
  expect(await ask()).toBeNull();
  world.now = 300;
  expect(await ask()).toBe('as of 0');
  world.changes += 1;
  for (const now of [310, 400, 540]) {
    world.now = now;
    expect(await ask()).toBeNull();
  }
  expect(world.computed).toBe(1);
  world.now = 570;
  expect(await ask()).toBe('as of 1');
});

test('fails as the question for changes does', async () => {
  const { world, ask } = setUp();
  world.now = 1_000;
  await expect(ask(Promise.reject(new Error('redis is away')))).rejects.toThrow('redis is away');
});
