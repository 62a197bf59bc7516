import { expect, test } from '@jest/globals';
import { createShares } from '../../../src/shared/fair-scheduling/shares.js';
import { collectGarbage } from '../../support/collect-garbage.js';

const MINUTE = 60_000;

function heldMemory(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function withClock() {
  let time = 0;
  const shares = createShares({ halfLifeMilliseconds: 5 * MINUTE, now: () => time });
  return {
    shares,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}

test('what a caller has used is counted while it goes on, and half of it is forgotten in five minutes', () => {
  const { shares, pass } = withClock();
  const [endOne, endOther] = [shares.begin('heavy'), shares.begin('heavy')];
  pass(10_000);
  expect(shares.used('heavy')).toBe(20);
  endOne();
  endOne();
  pass(10_000);
  endOther();
  expect(shares.used('heavy')).toBeCloseTo(30, 0);
  pass(5 * MINUTE);
  expect(shares.used('heavy')).toBeCloseTo(15, 0);
  pass(24 * 60 * MINUTE);
  expect(shares.used('heavy')).toBeCloseTo(0, 6);
  expect(shares.used('nobody')).toBe(0);
});

test('of several callers the one who has the fewest goes first, then the one who has used least', () => {
  const { shares, pass } = withClock();
  const end = shares.begin('long');
  pass(90_000);
  end();
  shares.begin('short')();
  shares.begin('holding');
  const order = ['holding', 'long', 'short', 'new'].sort((one, other) => shares.compare(one, other));
  expect(order.slice(0, 2).sort()).toEqual(['new', 'short']);
  expect(order.slice(2)).toEqual(['long', 'holding']);
});

test('a million callers who come once leave nothing behind, and one who stays is not forgotten', () => {
  const { shares, pass } = withClock();
  const before = heldMemory();
  shares.begin('stays');
  for (let n = 0; n < 1_000_000; n += 1) {
    const end = shares.begin(`caller ${String(n)}`);
    pass(10);
    end();
  }
  expect(shares.used('stays')).toBe(10_000);
  expect(heldMemory() - before).toBeLessThan(20 * 1024 ** 2);
});
