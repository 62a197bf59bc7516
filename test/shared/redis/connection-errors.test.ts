import { ConnectionClosedError, Queue } from 'bullmq';
import { expect, test } from '@jest/globals';
import { UnavailableError } from '../../../src/shared/errors.js';
import { bullConnection, toUnavailable } from '../../../src/shared/redis/client.js';
import { rejection } from '../../support/rejection.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url } = useTestRedis();

test('what a queue says whose connection is closed becomes unavailable', async () => {
  const queue = new Queue('closed', { connection: bullConnection(url, { failFast: true }) });
  await queue.waitUntilReady();
  await queue.disconnect();
  expect(toUnavailable(await rejection(queue.add('job', {})))).toBeInstanceOf(UnavailableError);
});

test('so does the error that BullMQ has for it, which is known by its name', () => {
  expect(toUnavailable(new ConnectionClosedError('BullMQ: closed'))).toBeInstanceOf(UnavailableError);
});

test('an error of ours stays as it is', () => {
  const error = new TypeError('of ours');
  expect(toUnavailable(error)).toBe(error);
});
