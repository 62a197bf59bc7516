import { expect, test } from '@jest/globals';
import { createRestartPauses } from '../../src/cli/supervise-child.js';

const MINUTE = 60_000;
const inARow = (pauses: ReturnType<typeof createRestartPauses>, deaths: number, ranForMs = 100) =>
  Array.from({ length: deaths }, () => pauses.after(ranForMs));

test('a process that keeps dying is started again for ever, after pauses that double up to a minute', () => {
  const pauses = createRestartPauses({ random: () => 0 });
  const taken = inARow(pauses, 1_000);
  expect(taken.slice(0, 9)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(new Set(taken.slice(7))).toEqual(new Set([60_000]));
});

test('chance shortens each pause by up to a quarter, so that processes that died together do not start together', () => {
  let draws = 0;
  const pauses = createRestartPauses({ random: () => (draws++ % 2 === 0 ? 0 : 0.999) });
  const taken = inARow(pauses, 4);
  expect(taken[0]).toBe(500);
  expect(taken[1]).toBeCloseTo(750, -1);
  const own = inARow(createRestartPauses(), 200);
  for (const pause of own.slice(8)) {
    expect(pause).toBeGreaterThan(0.75 * MINUTE - 1);
    expect(pause).toBeLessThanOrEqual(MINUTE);
  }
  expect(new Set(own.slice(8)).size).toBeGreaterThan(50);
});

test('a process that has run for longer than a minute begins with short pauses again', () => {
  const pauses = createRestartPauses({ random: () => 0 });
  inARow(pauses, 8);
  expect(pauses.after(MINUTE + 1)).toBe(500);
  expect(pauses.after(100)).toBe(1_000);
});
