import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { allOrNone } from '../../src/models/routes/texts.js';
import { rejection } from '../support/rejection.js';

const { signal } = new AbortController();
const items = Array.from({ length: 100 }, (_, n) => n);

test('results stand in the order of the items', async () => {
  const double = async (item: number) => {
    await sleep(item % 3);
    return 2 * item;
  };
  expect(await allOrNone(items, { atOnce: 16, signal }, double)).toEqual(items.map((item) => 2 * item));
});

test('after one has failed, the others stop waiting, none is begun, and it ends with the last', async () => {
  let begun = 0;
  let under = 0;
  const task = async (item: number, each: AbortSignal) => {
    begun += 1;
    under += 1;
    try {
      if (item === 3) throw new Error('too many wait');
      // One that computes already cannot be stopped.
      await (item === 0 ? sleep(50) : sleep(60_000, undefined, { signal: each }));
    } finally {
      under -= 1;
    }
  };
  const error = await rejection(allOrNone(items, { atOnce: 16, signal }, task));
  expect(error).toMatchObject({ message: 'too many wait' });
  expect(begun).toBe(16);
  expect(under).toBe(0);
});
