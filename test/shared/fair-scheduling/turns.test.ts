import { expect, test } from '@jest/globals';
import { UnavailableError } from '../../../src/shared/errors.js';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import { createTurns, type Turns } from '../../../src/shared/fair-scheduling/turns.js';
import { rejection } from '../../support/rejection.js';

/** Enters for each name in order, and tells in which order they were let in, one at a time. */
async function orderOf(turns: Turns, names: readonly string[]): Promise<string[]> {
  const order: string[] = [];
  const turn = await turns.enter({ by: 'first' });
  const runs = names.map((by) =>
    turns.run(
      () => {
        order.push(by);
        return Promise.resolve();
      },
      { by },
    ),
  );
  turn.end();
  await Promise.all(runs);
  return order;
}

test('those who wait come in turn, however many times one of them waits', async () => {
  const order = await orderOf(createTurns(1), ['heavy', 'heavy', 'heavy', 'heavy', 'light', 'other']);
  expect(order).toEqual(['heavy', 'light', 'other', 'heavy', 'heavy', 'heavy']);
});

test('no more than so many run at once, and every place is given on', async () => {
  const turns = createTurns(3);
  let [running, peak] = [0, 0];
  const task = async () => {
    running += 1;
    peak = Math.max(peak, running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
  };
  await Promise.all(Array.from({ length: 50 }, (_, i) => turns.run(task, { by: String(i % 7) })));
  expect(peak).toBe(3);
  expect(turns.figures()).toEqual({ running: 0, waiting: 0 });
});

test('whom nobody waits for any more takes no turn', async () => {
  const turns = createTurns(1);
  const turn = await turns.enter();
  const gone = new AbortController();
  let ran = 0;
  const task = () => Promise.resolve((ran += 1));
  const aborted = Array.from({ length: 20 }, () => rejection(turns.run(task, { signal: gone.signal })));
  const kept = turns.run(task);
  gone.abort(new Error('left'));
  for (const error of await Promise.all(aborted)) expect(error).toEqual(new Error('left'));
  expect(turns.figures()).toEqual({ running: 1, waiting: 1 });
  turn.end();
  await kept;
  expect(ran).toBe(1);
  expect(await rejection(turns.run(task, { signal: gone.signal }))).toEqual(new Error('left'));
  expect(turns.figures()).toEqual({ running: 0, waiting: 0 });
});

test('a full queue refuses the newest of the caller who has the most in it, and nobody else', async () => {
  const turns = createTurns(1, { maxWaiting: 10, name: 'index' });
  const turn = await turns.enter();
  const task = () => Promise.resolve('done');
  const heavy = Array.from({ length: 30 }, () => turns.run(task, { by: 'heavy' }).catch((e: unknown) => e));
  const light = Array.from({ length: 3 }, () => turns.run(task, { by: 'light' }));
  expect(turns.figures().waiting).toBe(10);
  turn.end();
  expect(await Promise.all(light)).toEqual(['done', 'done', 'done']);
  const answers = await Promise.all(heavy);
  expect(answers.filter((answer) => answer === 'done')).toHaveLength(7);
  expect(answers.filter((answer) => answer instanceof UnavailableError)).toHaveLength(23);
});

test('one who is alone has more at once; another has a turn at once, and takes turns from then on', async () => {
  const turns = createTurns(2, { maxAlone: 10 });
  const heavy = Array.from({ length: 30 }, () => turns.enter({ by: 'heavy' }));
  const begun = await Promise.all(heavy.slice(0, 10));
  expect(turns.figures()).toEqual({ running: 10, waiting: 20 });
  const light = await turns.enter({ by: 'light' });
  expect(turns.figures()).toEqual({ running: 11, waiting: 20 });
  // Somebody else was here a moment ago: the heavy one gets places of the common number only.
  for (const each of begun.slice(0, 8)) each.end();
  expect(turns.figures()).toEqual({ running: 3, waiting: 20 });
  const second = turns.enter({ by: 'light' });
  begun[8]?.end();
  expect(turns.figures()).toEqual({ running: 2, waiting: 21 });
  begun[9]?.end();
  expect(turns.figures()).toEqual({ running: 2, waiting: 20 });
  light.end();
  (await second).end();
  for (const entered of heavy.slice(10)) (await entered).end();
  expect(turns.figures()).toEqual({ running: 0, waiting: 0 });
});

test('with decayed usage, who used least goes first, and one who used much hears that another waits', async () => {
  let time = 0;
  const turns = createTurns(1, { usage: createDecayedUsage({ now: () => time }) });
  const turn = await turns.enter({ by: 'slow' });
  expect(turn.isWanted()).toBe(false);
  time += 9_000;
  const order: string[] = [];
  const run = (by: string) =>
    turns.run(
      () => {
        order.push(by);
        time += 1_000;
        return Promise.resolve();
      },
      { by },
    );
  const own = run('slow');
  // Its own requests wait behind it.
  expect(turn.isWanted()).toBe(false);
  const all = [own, run('slow'), run('quick'), run('new'), run('quick')];
  expect(turn.isWanted()).toBe(true);
  turn.end();
  await Promise.all(all);
  expect(order).toEqual(['quick', 'new', 'quick', 'slow', 'slow']);
});

test('of two kinds, the earlier one goes first and takes turns from the later one, but not for ever', async () => {
  const turns = createTurns(1, { kinds: ['urgent', 'other'], maxOvertaking: 2 });
  const turn = await turns.enter({ kind: 'other' });
  expect(turn.isWanted()).toBe(false);
  const order: string[] = [];
  const run = (kind: string) =>
    turns.run(
      () => {
        order.push(kind);
        return Promise.resolve();
      },
      { kind },
    );
  const all = ['other', 'urgent', 'urgent', 'urgent', 'urgent', 'other'].map(run);
  expect(turn.isWanted()).toBe(true);
  turn.end();
  await Promise.all(all);
  expect(order).toEqual(['urgent', 'urgent', 'other', 'urgent', 'urgent', 'other']);
});

test('what has begun is not refused, however many wait', async () => {
  const turns = createTurns(1, { maxWaiting: 1, refusal: () => new Error('full') });
  const turn = await turns.enter();
  const [again, other] = [turns.enter({ hasBegun: true }), turns.enter({ hasBegun: true })];
  expect(await rejection(turns.enter())).toEqual(new Error('full'));
  turn.end();
  (await again).end();
  (await other).end();
});

test('a task that fails passes its place on, once', async () => {
  const turns = createTurns(1);
  const failed = rejection(turns.run(() => Promise.reject(new Error('failed')), { by: 'ann' }));
  const [next, last] = [turns.enter({ by: 'bob' }), turns.enter({ by: 'cid' })];
  expect(await failed).toEqual(new Error('failed'));
  const turn = await next;
  expect(turns.figures()).toEqual({ running: 1, waiting: 1 });
  turn.end();
  turn.end();
  await last;
  expect(turns.figures()).toEqual({ running: 1, waiting: 0 });
});
