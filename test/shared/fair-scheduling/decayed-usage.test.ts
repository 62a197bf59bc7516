import { expect, test } from '@jest/globals';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import { collectGarbage } from '../../support/collect-garbage.js';

const MINUTE = 60_000;

function heldMemory(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function withClock() {
  let time = 0;
  const usage = createDecayedUsage({ halfLifeMilliseconds: 5 * MINUTE, now: () => time });
  return {
    usage,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
  };
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

test('a million callers who come once leave nothing behind, and one who stays is not forgotten', () => {
  const { usage, pass } = withClock();
  const before = heldMemory();
  usage.begin('stays');
  for (let n = 0; n < 1_000_000; n += 1) {
    const end = usage.begin(`caller ${String(n)}`);
    pass(10);
    end();
  }
  expect(usage.used('stays')).toBe(10_000);
  expect(heldMemory() - before).toBeLessThan(20 * 1024 ** 2);
});
