import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';

describeOnEachSharedIndex((service) => {
  let redis: Redis;

  beforeAll(async () => {
    redis = createRedis(service.redis.url, { failFast: true, onError: () => undefined });
    await redis.connect();
  });

  afterAll(() => {
    redis.destroy();
  });

  const others = (name: string) => Array.from({ length: 20 }, (_, i) => `${name}-${String(i)}`);

  /** Commands that Redis was sent for records, lists and searches while something was asked. */
  async function commandsOf(ask: () => Promise<unknown>): Promise<number> {
    const count = async () => {
      const lines = (await redis.info('commandstats')).split('\r\n');
      const counted = lines.filter((line) => /^cmdstat_(?:ft\.|hmget|zmscore|evalsha)/iu.test(line));
      return counted.reduce((sum, line) => sum + Number(/calls=(\d+)/u.exec(line)?.[1] ?? 0), 0);
    };
    const before = await count();
    await ask();
    return (await count()) - before;
  }

  test('what an owner adds that does not name a caller costs the caller’s lists and searches nothing', async () => {
    const hostile = service.client('hostile');
    const victim = service.client('victim');
    const ingest = async (content: string, readers: readonly string[]) =>
      (await hostile.ingestText(content, { access_control: { readers } }, { prefer: 'wait=60' })).status;
    const many = async (count: number, task: (n: number) => Promise<number>) => {
      const found: number[] = [];
      for (let n = 0; n < count; n += 20)
        found.push(
          ...(await Promise.all(Array.from({ length: Math.min(20, count - n) }, (_, i) => task(n + i)))),
        );
      return found;
    };
    await victim.ingestText('The canary sings about budget plans.', {}, { prefer: 'wait=60' });
    const named = await many(260, (n) =>
      ingest('nothing of note', [service.caller('victim'), ...others(`r${String(n)}`)]),
    );
    expect(named.filter((status) => status === 200)).toHaveLength(256);
    expect(named.filter((status) => status === 422)).toHaveLength(4);

    const ask = async () => {
      expect((await victim.get<unknown[]>('/documents?limit=10')).body).toHaveLength(10);
      expect((await victim.searchChunks('canary budget plans', { k: 1 })).body).toHaveLength(1);
    };
    const least = async () => Math.min(await commandsOf(ask), await commandsOf(ask), await commandsOf(ask));
    await ask();
    const before = await least();
    await many(600, (n) => ingest('canary budget plans', others(`other${String(n % 7)}`)));
    // Whatever else asks Redis meanwhile: the walk of 600 documents took hundreds.
    expect(await least()).toBeLessThanOrEqual(before + 100);
  });
});
