import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { ingestText } from '../support/cache-client.js';
import { createClient } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import { isAtRest, recountStatistics, statisticsDifferences } from '../support/recount-statistics.js';
import type { Service } from '../support/service.js';
import { until } from '../support/until.js';

const WORDS = ['otter', 'harbour', 'crane', 'lantern', 'marsh', 'copper', 'violin', 'orchard', 'glacier'];
const words = (count: number, seed: number) =>
  Array.from({ length: count }, (_, i) => WORDS[(i * i + seed * 7 + i * seed) % WORDS.length] ?? '').join(
    ' ',
  );
const short = (seed: number) => `${words(30, seed)} number${String(seed)}`;
/** Some ten chunks, by way of the embedding queue. */
const long = (seed: number) =>
  Array.from({ length: 60 }, (_, i) => `${words(60, seed + i)} number${String(seed * 100 + i)}.`).join(
    '\n\n',
  );

describeOnEachIndex((start) => {
  let service: Service;
  let redis: Redis;
  let user = '';
  let users = 0;

  beforeAll(async () => {
    service = await start();
    redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
    await redis.connect();
  });

  afterAll(async () => {
    redis.destroy();
    await service.stop();
  });

  beforeEach(() => {
    user = `user-${String((users += 1))}`;
  });

  const atRest = () => until(() => isAtRest(redis));
  const client = () => createClient(service.url, user);

  /** Each takes what the one before left: ingests both ways, and everything that changes what is counted. */
  const steps: readonly (readonly [name: string, step: (ids: string[], seed: number) => Promise<unknown>])[] =
    [
      ['a long text', async (ids, seed) => ids.push(await ingestText(client(), long(seed)))],
      ['a short text', async (ids, seed) => ids.push(await ingestText(client(), short(seed)))],
      [
        'a PUT that makes a short text long',
        (ids, seed) => client().put(`/documents/${ids.at(-1) ?? ''}/content`, { content: long(seed) }),
      ],
      [
        'a PUT that makes a long text short',
        (ids, seed) => client().put(`/documents/${ids.at(-2) ?? ''}/content`, { content: short(seed) }),
      ],
      [
        'a PATCH that closes a document to its owner',
        (ids) =>
          client().patch(`/documents/${ids.at(-1) ?? ''}`, {
            access_control: { readers: [], writers: [], admins: ['somebody'] },
          }),
      ],
      ['another short text', async (ids, seed) => ids.push(await ingestText(client(), short(seed)))],
      ['a DELETE', async (ids) => client().delete(`/documents/${ids.pop() ?? ''}`)],
    ];

  const exact = async () => {
    await atRest();
    expect(await statisticsDifferences(redis)).toEqual([]);
  };

  test.each(steps.map(([name], at) => [name, at] as const))(
    'term statistics are exact after a server that forgot its scripts before %s',
    async (_name, at) => {
      const ids: string[] = [];
      for (const [i, [, step]] of steps.entries()) {
        if (i === at) await redis.scriptFlush();
        await step(ids, i);
        await exact();
      }
      const counted = (await recountStatistics(redis)).get(keys.statistics(user));
      expect(counted?.get('chunks')).toBeGreaterThan(0);
    },
  );

  test('term statistics are exact however often the server forgets its scripts meanwhile', async () => {
    const stop = new AbortController();
    const flushing = (async () => {
      while (!stop.signal.aborted) {
        await redis.scriptFlush();
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
      }
    })();
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const [i, [, step]] of steps.entries()) await step(ids, 10 * round + i);
      await Promise.all([1, 2, 3, 4].map((n) => ingestText(client(), n % 2 ? short(n) : long(n))));
    }
    stop.abort();
    await flushing;
    await exact();
  });

  test('term statistics are exact after kills of Redis in between', async () => {
    const ids: string[] = [];
    for (const [i, [, step]] of steps.entries()) {
      const isUp = client()
        .searchChunks('otter')
        .then(
          ({ status }) => status === 200,
          () => false,
        );
      if (!(await isUp)) await service.untilReady();
      const running = step(ids, i).catch(() => undefined);
      if (i % 2 === 1) {
        await new Promise((resolve) => setTimeout(resolve, 15 * i));
        await service.redis.crash();
        await service.redis.start();
        await service.untilReady();
      }
      await running;
      if (ids.length < 2) ids.push(await ingestText(client(), short(50 + i)));
    }
    await exact();
  });
});
