import { expect, test } from '@jest/globals';
import { askOneAtATime } from '../../../src/shared/disk/disk-watch.js';

test('what does not answer is asked once, and nobody waits for it for long', async () => {
  let asked = 0;
  let answer = (_value: string): void => undefined;
  const read = () => {
    asked += 1;
    return new Promise<string>((resolve) => (answer = resolve));
  };
  const ask = askOneAtATime(read, { milliseconds: 20, otherwise: 'unknown' });
  expect(await ask()).toBe('unknown');
  expect(await Promise.all([ask(), ask()])).toEqual(['unknown', 'unknown']);
  expect(asked).toBe(1);
  const next = ask();
  answer('known');
  expect(await next).toBe('known');
  void ask();
  expect(asked).toBe(2);
  answer('known');
});
