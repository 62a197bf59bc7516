import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { keepReserve } from '../../../src/cli/redis/reserve.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reserve-'));
  jest.useFakeTimers();
});
afterEach(async () => {
  jest.useRealTimers();
  await rm(directory, { recursive: true, force: true });
});

test('a folder of Redis that is away for a while ends nothing, and has a reserve again when it is back', async () => {
  const away = join(directory, 'away');
  const { beforeStart } = keepReserve(away);
  expect(beforeStart).not.toThrow();
  expect(() => jest.advanceTimersByTime(60_000)).not.toThrow();
  await mkdir(away);
  jest.advanceTimersByTime(60_000);
  expect((await stat(join(away, 'reserve'))).size).toBeGreaterThan(0);
});
