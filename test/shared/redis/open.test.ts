import { expect, test } from '@jest/globals';
import { ErrorReply } from 'redis';
import { waitForRedis } from '../../../src/shared/redis/open.js';

test.each([
  'LOADING Redis is loading the dataset in memory',
  'BUSY Redis is busy running a script',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'READONLY You cannot write against a read only replica.',
  'OOM command not allowed',
])('a start waits for a Redis that answers %s, and says so once', async (message) => {
  const told: string[] = [];
  let tries = 0;
  const work = () => {
    tries += 1;
    return tries < 3 ? Promise.reject(new ErrorReply(message)) : Promise.resolve('served');
  };
  const logger = { warn: (_fields: unknown, text?: string) => told.push(text ?? '') };
  expect(await waitForRedis(work, { logger })).toBe('served');
  expect(told).toEqual(['waiting for redis']);
});

test('an error of our own ends the wait, and so does the abort of its signal', async () => {
  const logger = { warn: () => undefined };
  const wrong = () => Promise.reject(new ErrorReply('WRONGTYPE'));
  await expect(waitForRedis(wrong, { logger })).rejects.toThrow('WRONGTYPE');
  const stopping = new AbortController();
  const loading = () => Promise.reject(new ErrorReply('LOADING'));
  const waiting = waitForRedis(loading, { logger, signal: stopping.signal });
  stopping.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
});
