import { expect, jest, test } from '@jest/globals';
import { ClientOfflineError } from 'redis';
import { openChangeWaiter } from '../../../../src/api/services/ingest/waits.js';
import { createRedis } from '../../../../src/shared/redis/client.js';

/** A client that never connects anywhere, whose subscription fails as when Redis is killed just then, or not. */
// @NOTE the types of a client's functions know of modules that no client here has.
function subscriber(isBroken: boolean) {
  const client = createRedis('redis://127.0.0.1:1', { failFast: true, onError: () => undefined });
  const destroy = jest.spyOn(client, 'destroy').mockImplementation(() => undefined);
  jest.spyOn(client, 'connect').mockResolvedValue(client);
  jest
    .spyOn(client, 'subscribe')
    .mockImplementation(() => (isBroken ? Promise.reject(new ClientOfflineError()) : Promise.resolve()));
  return { client, destroy };
}

test('an API that starts waits for a Redis that goes away between its connection and its subscription', async () => {
  const [broken, whole] = [subscriber(true), subscriber(false)];
  const redis = createRedis('redis://127.0.0.1:1', { failFast: true, onError: () => undefined });
  jest
    .spyOn(redis, 'duplicate')
    .mockReturnValueOnce(broken.client as never)
    .mockReturnValueOnce(whole.client as never);
  const warn = jest.fn();
  const { signal } = new AbortController();
  const waiter = await openChangeWaiter(redis, () => undefined, { logger: { warn }, signal });
  expect(broken.destroy).toHaveBeenCalledTimes(1);
  expect(whole.destroy).not.toHaveBeenCalled();
  expect(warn).toHaveBeenCalledTimes(1);
  waiter.close();
  expect(whole.destroy).toHaveBeenCalledTimes(1);
});
