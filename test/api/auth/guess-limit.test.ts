import { beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthentication } from '../../../src/api/auth/authentication.js';
import {
  createGuessLimit,
  GUESSES_BY_ADDRESS,
  GUESSES_IN_ALL,
  type Guesses,
} from '../../../src/api/auth/guess-limit.js';
import { createMinuteCounters } from '../../../src/api/auth/rate-limit.js';
import { createMetricsPage } from '../../../src/api/pages/metrics-page.js';
import { createTokenRoutes } from '../../../src/api/routes/tokens.js';
import { createRedis } from '../../../src/shared/redis/client.js';
import { makeToken, SECRET, startApi, type ApiClient } from '../../support/api.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const PASSWORD = 'a password of the tests';
const SCRAPE = 'a-token-for-scraping-only';

const { url, redis } = useTestRedis();
let guesses: Guesses;
beforeEach(async () => {
  await redis.flushAll();
  guesses = createGuessLimit(createMinuteCounters(redis));
});

const from = (address: string) => ({ kind: 'password', address }) as const;
const wrong = () => false;
const right = () => true;
const refused = { kind: 'too_many', message: 'Too many attempts' };

async function useUp(address: string, count = GUESSES_BY_ADDRESS): Promise<void> {
  for (let n = 0; n < count; n += 1) expect(await guesses.check(from(address), wrong)).toBe(false);
}

describe('guessing a password', () => {
  test('ends after ten in a minute from one address, also with the right one, over all processes', async () => {
    await useUp('1.1.1.1');
    const other = createGuessLimit(createMinuteCounters(redis));
    let isAsked = false;
    const asked = () => (isAsked = true);
    for (const each of [guesses, other])
      await expect(each.check(from('1.1.1.1'), asked)).rejects.toMatchObject(refused);
    expect(isAsked).toBe(false);
    expect(await guesses.check(from('1.1.1.2'), right)).toBe(true);
  });

  test('tried at once, it is not asked for more than ten times', async () => {
    let asked = 0;
    const tries = Array.from({ length: 200 }, () =>
      guesses.check(from('1.1.1.1'), () => {
        asked += 1;
        return false;
      }),
    );
    await Promise.allSettled(tries);
    expect(asked).toBe(GUESSES_BY_ADDRESS);
  });

  test('ends in all, too; what one address was refused uses up nothing of that', async () => {
    await useUp('1.1.1.1');
    for (let n = 0; n < 2 * GUESSES_IN_ALL; n += 1)
      await expect(guesses.check(from('1.1.1.1'), wrong)).rejects.toMatchObject(refused);
    const addresses = GUESSES_IN_ALL / GUESSES_BY_ADDRESS;
    for (let n = 1; n < addresses; n += 1) await useUp(`2.2.2.${String(n)}`);
    await expect(guesses.check(from('3.3.3.3'), right)).rejects.toMatchObject(refused);
  });

  test('locks out neither other kinds, nor who was right before', async () => {
    expect(await guesses.check(from('9.9.9.9'), right)).toBe(true);
    const addresses = GUESSES_IN_ALL / GUESSES_BY_ADDRESS;
    for (let n = 0; n < addresses; n += 1) await useUp(`2.2.2.${String(n)}`);
    expect(await guesses.check(from('9.9.9.9'), right)).toBe(true);
    expect(await guesses.check({ kind: 'scrape-token', address: '3.3.3.3' }, right)).toBe(true);
    // One wrong guess, and it is an address like any other.
    await expect(guesses.check(from('9.9.9.9'), wrong)).rejects.toMatchObject(refused);
    await expect(guesses.check(from('9.9.9.9'), right)).rejects.toMatchObject(refused);
  });

  test('right ones do not count', async () => {
    for (let n = 0; n < 3 * GUESSES_BY_ADDRESS; n += 1) {
      const fresh = createGuessLimit(createMinuteCounters(redis));
      expect(await fresh.check(from('1.1.1.1'), right)).toBe(true);
    }
  });

  test('is over while Redis is away, except for who was right before', async () => {
    expect(await guesses.check(from('9.9.9.9'), right)).toBe(true);
    const away = createRedis(url, { failFast: true, onError: () => undefined });
    const closed = createGuessLimit(createMinuteCounters(away));
    await expect(closed.check(from('1.1.1.1'), right)).rejects.toThrow(/closed|offline/i);
  });
});

describe('over HTTP', () => {
  let api: ApiClient;
  const start = async (trustProxy: number | string[] = 0) => {
    const authenticate = createAuthentication({ secrets: [SECRET], devMode: false });
    const metrics = createMetricsPage({
      sources: [],
      authenticate,
      token: SCRAPE,
      devMode: false,
      guesses,
    });
    const routes = createTokenRoutes({ makeUri: () => 'x', devMode: false, guesses, password: PASSWORD });
    api = await startApi({ routes, trustProxy, pages: [{ path: '/metrics', handler: metrics }] });
  };
  const generate = (password: string, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams({ password_token: password });
    return api.request('/local/generate_uri', { method: 'POST', body, headers });
  };

  test('the eleventh password is 429 with Retry-After, a token of an admin passes', async () => {
    await start();
    for (let n = 0; n < 10; n += 1) expect(await generate('guess')).toMatchObject({ status: 401 });
    const answer = await generate(PASSWORD);
    expect(answer).toMatchObject({ status: 429, body: { detail: 'Too many attempts' } });
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const token = makeToken({ permissions: ['admin'] });
    expect(await api.request('/local/generate_uri', { method: 'POST', token })).toMatchObject({
      status: 200,
    });
    await api.close();
  });

  test('so it is with the token for /metrics', async () => {
    await start();
    const scrape = async (token: string) =>
      (await fetch(`${api.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status;
    for (let n = 0; n < 10; n += 1) expect(await scrape('guess')).toBe(401);
    expect(await scrape(SCRAPE)).toBe(429);
    expect(await scrape(makeToken({ permissions: ['admin'] }))).toBe(200);
    await api.close();
  });

  test('a forged X-Forwarded-For buys no guess, behind a proxy or without one', async () => {
    for (const [hops, proxy] of [
      [0, ''],
      [1, ', 5.5.5.5'],
    ] as const) {
      await redis.flushAll();
      await start(hops);
      const forged = (n: number) => ({ 'X-Forwarded-For': `6.6.6.${String(n)}${proxy}` });
      for (let n = 0; n < 10; n += 1)
        expect(await generate('guess', forged(n))).toMatchObject({ status: 401 });
      for (let n = 10; n < 25; n += 1)
        expect(await generate(PASSWORD, forged(n))).toMatchObject({ status: 429 });
      await api.close();
    }
  });

  test('behind a proxy clients are told apart, those of IPv6 by their network', async () => {
    await start(['127.0.0.0/8', '10.0.0.0/8']);
    const by = (address: string) => ({ 'X-Forwarded-For': `${address}, 10.1.2.3` });
    for (let n = 0; n < 10; n += 1)
      expect(await generate('guess', by(`2001:db8:1:2::${String(n)}`))).toMatchObject({ status: 401 });
    expect(await generate(PASSWORD, by('2001:db8:1:2:ffff::1'))).toMatchObject({ status: 429 });
    expect(await generate('guess', by('2001:db8:1:3::1'))).toMatchObject({ status: 401 });
    expect(await generate('guess', by('7.7.7.7'))).toMatchObject({ status: 401 });
    await api.close();
  });
});
