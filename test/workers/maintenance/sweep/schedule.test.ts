import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { keys } from '../../../../src/shared/redis/keys.js';
import { takeLease } from '../../../../src/shared/redis/lease.js';
import type { Sweep } from '../../../../src/workers/maintenance/sweep/sweep.js';
import { startSweepSchedule } from '../../../../src/workers/maintenance/sweep/schedule.js';
import { until } from '../../../support/until.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });

beforeEach(async () => {
  await redis.flushAll();
});

const logger = pino({ level: 'silent' });

function sweeperOf(sweep: Sweep, { every = 20, lease = 10_000 } = {}) {
  return startSweepSchedule({ redis, sweep, logger, everyMilliseconds: every, leaseMilliseconds: lease });
}

test('however many processes sweep, one does at a time', async () => {
  let [running, most, sweeps] = [0, 0, 0];
  const sweep: Sweep = async () => {
    running += 1;
    most = Math.max(most, running);
    await sleep(30);
    running -= 1;
    sweeps += 1;
    return { requeued: 0 };
  };
  const sweepers = Array.from({ length: 8 }, () => sweeperOf(sweep));
  await until(() => sweeps >= 10);
  await Promise.all(sweepers.map((each) => each.close()));
  expect(most).toBe(1);
});

test('one sweep an interval, in all processes together', async () => {
  let sweeps = 0;
  const sweep: Sweep = () => Promise.resolve({ requeued: (sweeps += 1) * 0 });
  const sweepers = Array.from({ length: 5 }, () => sweeperOf(sweep, { every: 60_000 }));
  await until(() => sweeps > 0);
  await sleep(200);
  await Promise.all(sweepers.map((each) => each.close()));
  expect(sweeps).toBe(1);
});

test('a sweep whose process died is followed by another, and goes no further should it come back', async () => {
  const options = {
    key: keys.sweepLease,
    pauseKey: keys.sweepPause,
    pauseMilliseconds: 1,
    milliseconds: 1_000,
  };
  const died = await takeLease(redis, options);
  const renewedAt = performance.now();
  expect(await died?.renew()).toBe(true);
  const sweeps: number[] = [];
  const sweeper = sweeperOf(() => Promise.resolve({ requeued: sweeps.push(performance.now()) * 0 }));
  await until(() => sweeps.length > 0);
  await sweeper.close();
  expect((sweeps[0] ?? 0) - renewedAt).toBeGreaterThanOrEqual(options.milliseconds);
  expect(await died?.renew()).toBe(false);
  await died?.release();
});

test('a sweep that lost its lease ends before its next step', async () => {
  let steps = 0;
  const sweep: Sweep = async (mayGoOn = () => Promise.resolve(true)) => {
    while (await mayGoOn()) {
      steps += 1;
      await redis.del(keys.sweepLease);
    }
    return { requeued: 0 };
  };
  const sweeper = sweeperOf(sweep, { every: 60_000 });
  await until(() => steps > 0);
  await sleep(100);
  expect(steps).toBe(1);
  await sweeper.close();
});

test('a closed sweeper ends its sweep after the step it is at', async () => {
  let steps = 0;
  const sweep: Sweep = async (mayGoOn = () => Promise.resolve(true)) => {
    for (; await mayGoOn(); steps += 1) await sleep(5);
    return { requeued: 0 };
  };
  const sweeper = sweeperOf(sweep);
  await until(() => steps > 3);
  await sweeper.close();
  const last = steps;
  await sleep(50);
  expect(steps).toBe(last);
  expect(await redis.exists(keys.sweepLease)).toBe(0);
});
