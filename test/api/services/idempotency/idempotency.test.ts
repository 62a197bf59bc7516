import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createIdempotency } from '../../../../src/api/services/idempotency/idempotency.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis();

test('an answer that cannot be packed is not remembered, and the key is free at once', async () => {
  const idempotency = createIdempotency({ redis, logger: pino({ level: 'silent' }), limitBytes: 100_000 });
  const claim = () => idempotency.claim({ callerId: 'alice', key: 'key', fingerprint: () => 'body' });
  const first = await claim();
  if (first.type !== 'claimed') throw new Error('the key is not free');
  // JSON has no such numbers.
  const answer = { status: 200, headers: {}, body: { count: 1n } };
  await first.reservation.remember(answer);
  const second = await claim();
  expect(second.type).toBe('claimed');
  if (second.type === 'claimed') await second.reservation.release();
});
