import { expect, test } from '@jest/globals';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { useFakeClock } from '../../support/fake-clock.js';

const clock = useFakeClock();
const MINUTE = 60_000;

function heldMemory(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function withClock() {
  let time = 0;
  const usage = createDecayedUsage({ halfLifeMilliseconds: 5 * MINUTE, now: () => time });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  const use = (by: string, milliseconds: number) => {
    const end = usage.begin(by);
    pass(milliseconds);
    end();
  };
  return { usage, pass, use };
}

test('what a caller has used is counted while it goes on, and half of it is forgotten in five minutes', () => {
  const { usage, pass } = withClock();
  const [endOne, endOther] = [usage.begin('heavy'), usage.begin('heavy')];
  pass(10_000);
  expect(usage.used('heavy')).toBe(20);
  endOne();
  endOne();
  pass(10_000);
  endOther();
  expect(usage.used('heavy')).toBeCloseTo(30, 0);
  pass(5 * MINUTE);
  expect(usage.used('heavy')).toBeCloseTo(15, 0);
  pass(24 * 60 * MINUTE);
  expect(usage.used('heavy')).toBeCloseTo(0, 6);
  expect(usage.used('nobody')).toBe(0);
});

test('what was used long ago and what is used now are one sum, of which half is forgotten in each half-life', () => {
  const { usage, pass, use } = withClock();
  pass(1_000);
  use('ann', 8_000);
  pass(5 * MINUTE);
  expect(usage.used('ann')).toBe(4);
  pass(5 * MINUTE);
  expect(usage.used('ann')).toBe(2);
  const end = usage.begin('ann');
  pass(5 * MINUTE);
  // Nothing is forgotten of use that goes on.
  expect(usage.used('ann')).toBe(301);
  end();
  expect(usage.used('ann')).toBe(301);
  pass(5 * MINUTE);
  expect(usage.used('ann')).toBe(150.5);
});

test('what callers have is counted for each, and not twice when its end is told twice', () => {
  const { usage } = withClock();
  expect(usage.held('ann')).toBe(0);
  const ends = [usage.begin('ann'), usage.begin('ann'), usage.begin('bob')];
  expect([usage.held('ann'), usage.held('bob'), usage.held('cid')]).toEqual([2, 1, 0]);
  ends[0]?.();
  ends[0]?.();
  expect([usage.held('ann'), usage.held('bob')]).toEqual([1, 1]);
});

test('without a clock of its own, usage goes by the time that passes, and half is forgotten in five minutes', async () => {
  const usage = createDecayedUsage();
  const end = usage.begin('ann');
  await clock.pass(2_000);
  end();
  await clock.pass(5 * MINUTE);
  expect(usage.used('ann')).toBeCloseTo(1, 9);
});

test('who has fewer at the moment goes before who has used less; of equals neither goes first', () => {
  const { usage, pass } = withClock();
  const end = usage.begin('ann');
  pass(250);
  end();
  usage.begin('bob');
  expect(Math.sign(usage.compare('ann', 'bob'))).toBe(-1);
  expect(Math.sign(usage.compare('bob', 'ann'))).toBe(1);
  usage.begin('ann');
  expect(Math.sign(usage.compare('ann', 'bob'))).toBe(1);
  expect(Math.sign(usage.compare('bob', 'ann'))).toBe(-1);
  expect(usage.compare('cid', 'dan')).toBe(0);
});

test('from a thousand callers on, those are forgotten who have next to nothing and used it up, and nobody else', () => {
  const { usage, use } = withClock();
  usage.begin('stays');
  use('little', 49);
  for (let n = 0; n < 997; n += 1) usage.begin(`light ${String(n)}`)();
  use('just enough', 50);
  // Now there are a thousand callers: room is made for the next one, and not sooner.
  expect(usage.used('little')).toBeGreaterThan(0.04);
  usage.begin('next');
  expect(usage.used('little')).toBe(0);
  expect(usage.used('just enough')).toBe(0.05);
  expect(usage.held('stays')).toBe(1);
});

test('where many have used much, they are looked through again once there are twice as many', () => {
  const { usage, pass } = withClock();
  for (let n = 0; n < 999; n += 1) usage.begin(`heavy ${String(n)}`);
  usage.begin('light')();
  pass(10_000);
  const isKnown = () => usage.used('little') > 0;
  const endLittle = usage.begin('little');
  pass(1);
  endLittle();
  for (let n = 0; n < 998; n += 1) usage.begin(`more ${String(n)}`);
  expect(isKnown()).toBe(true);
  pass(10_000);
  usage.begin('one more');
  expect(isKnown()).toBe(false);
  expect(usage.held('heavy 0')).toBe(1);
});

test('of several callers the one who has the fewest goes first, then the one who has used least', () => {
  const { usage, pass } = withClock();
  const end = usage.begin('long');
  pass(90_000);
  end();
  usage.begin('short')();
  usage.begin('holding');
  const order = ['holding', 'long', 'short', 'new'].sort((one, other) => usage.compare(one, other));
  expect(order.slice(0, 2).sort()).toEqual(['new', 'short']);
  expect(order.slice(2)).toEqual(['long', 'holding']);
});

test('hundreds of thousands of callers who come once leave nothing behind, and one who stays is not forgotten', () => {
  const { usage, pass } = withClock();
  const before = heldMemory();
  usage.begin('stays');
  for (let n = 0; n < 300_000; n += 1) {
    const end = usage.begin(`caller ${String(n)}`);
    pass(10);
    end();
  }
  expect(usage.used('stays')).toBe(3_000);
  expect(heldMemory() - before).toBeLessThan(6 * 1024 ** 2);
});
