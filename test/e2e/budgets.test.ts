import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUE_PREFIX, keys } from '../../src/shared/redis/keys.js';
import { LANES } from '../../src/shared/queues/lanes.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { createClient, type Client } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import type { Service } from '../support/service.js';
import { until } from '../support/until.js';

/** The commands that a caller causes; idle workers send the others all the time. */
const WORKING =
  /^(evalsha|eval|hmget|hgetall|hget|hset|zrange|zadd|lrange|rpush|ft\.search|smembers|get|set)$/;

const KEEP_RECORDS = 50;
/** The number of finished jobs that `src/shared/queues/jobs.ts` keeps. */
const KEPT_JOBS = 500;

describeOnEachIndex((start) => {
  let service: Service;
  let client: Client;
  let redis: Redis;

  beforeAll(async () => {
    const env = { QUIRE_CHUNK_SIZE: '16', QUIRE_CHUNK_OVERLAP: '0', QUIRE_WORKERS_SWEEP_SECONDS: '600' };
    service = await start({ env: { ...env, QUIRE_USAGE_KEEP_RECORDS: String(KEEP_RECORDS) } });
    client = createClient(service.url, 'counted');
    redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
    await redis.connect();
  });

  afterAll(async () => {
    redis.destroy();
    await service.stop();
  });

  /** Redis commands by name that came while something was done. */
  async function commandsOf(action: () => Promise<void>): Promise<Map<string, number>> {
    await redis.configResetStat();
    await action();
    const info = await redis.info('commandstats');
    const found = [...info.matchAll(/cmdstat_([\w.|]+):calls=(\d+)/g)].map(
      ([, name = '', calls]): [string, number] => [name, Number(calls)],
    );
    return new Map(found.filter(([name]) => WORKING.test(name)));
  }

  const keptJobs = (lane: string) => redis.zCard(`${QUEUE_PREFIX}:${lane}:completed`);

  const sum = (commands: ReadonlyMap<string, number>) =>
    [...commands.values()].reduce((total, calls) => total + calls, 0);

  const ingest = async (content: string) => {
    // A text that may be a duplicate is stored by itself and has a job of its own.
    const { status, body } = await client.ingestText(
      content,
      { on_duplicate: 'return' },
      { prefer: 'wait=60' },
    );
    expect(status).toBe(200);
    return body.external_id;
  };
  const ingestMany = async (count: number) => {
    for (let done = 0; done < count; done += 10) {
      await Promise.all(
        Array.from({ length: 10 }, (_, i) => ingest(`A note of number ${String(done + i)}.`)),
      );
    }
  };
  const search = async (k: number) => {
    const { status, body } = await client.searchChunks('note', { k });
    expect(status).toBe(200);
    return body.length;
  };

  describe('the number of Redis commands', () => {
    const SEARCHES = 20;
    const perSearch = async (k: number) => {
      await search(k);
      const commands = await commandsOf(async () => {
        for (let n = 0; n < SEARCHES; n += 1) await search(k);
      });
      return sum(commands) / SEARCHES;
    };

    test('of a search does not grow with the number of documents', async () => {
      await ingestMany(20);
      const few = await perSearch(10);
      await ingestMany(300);
      const many = await perSearch(10);
      console.info('commands of a search for 10 hits', { few, many });
      expect(many).toBeLessThan(few * 1.5 + 5);
      expect(many).toBeLessThan(80);
    });

    test('of an ingest is a few for each chunk, however many there are', async () => {
      const text = (chunks: number) =>
        Array.from(
          { length: chunks },
          (_, n) => `Of the line number ${String(n)} nothing more is to be said here.`,
        ).join('\n');
      const commandsFor = async (chunks: number) => {
        const commands = await commandsOf(async () => {
          await ingest(text(chunks));
        });
        return sum(commands);
      };
      const [short, long, longer] = [await commandsFor(1), await commandsFor(640), await commandsFor(1_280)];
      console.info('commands of an ingest', { short, long, longer });
      expect(short).toBeLessThan(120);
      // Redis counts what scripts do, too, and what workers ask for while it takes its time.
      expect(long).toBeLessThan(640 * 12);
      expect(longer).toBeLessThan(1_280 * 12);
    });
  });

  test('a stored text takes a bounded number of bytes', async () => {
    const COUNT = 200;
    const used = async () => Number(/used_memory_dataset:(\d+)/.exec(await redis.info('memory'))?.[1]);
    const before = await used();
    await ingestMany(COUNT);
    const each = ((await used()) - before) / COUNT;
    console.info('bytes of a stored text of one chunk', Math.round(each));
    // A vector of 1,024 numbers is 4 KiB; the job that ingested it is kept for a while.
    expect(each).toBeLessThan(24 * 1024);
  });

  test('files that were opened are closed', async () => {
    const openFiles = async () => (await readdir(`/proc/${String(service.api.child.pid)}/fd`)).length;
    const { body } = await client.ingestFile(Buffer.from('text '.repeat(50_000)), 'open.txt');
    const path = `/documents/${body.external_id}/download`;
    const ask = async () => {
      const response = await client.send<unknown>('GET', `/documents/${body.external_id}`);
      expect(response.status).toBe(200);
      // A reader who goes away in the middle, and one who stays.
      const stop = new AbortController();
      const cut = await fetch(service.url + path, {
        headers: { authorization: client.authorization },
        signal: stop.signal,
      });
      stop.abort();
      await cut.arrayBuffer().catch(() => null);
      const whole = await fetch(service.url + path, { headers: { authorization: client.authorization } });
      expect((await whole.arrayBuffer()).byteLength).toBe(250_000);
    };
    await ask();
    const before = await openFiles();
    for (let n = 0; n < 60; n += 1) await ask();
    await until(async () => (await openFiles()) < before + 20);
  });

  test('lists that grow with use are bounded', async () => {
    for (let n = 0; n < 3 * KEEP_RECORDS; n += 1) await search(1);
    await until(async () => (await redis.lLen(keys.usagePending('counted'))) === 0);
    expect(await redis.lLen(keys.usageRecords('counted'))).toBeLessThanOrEqual(KEEP_RECORDS);
    // More than that were ingested above, each by a job.
    expect(await keptJobs('ingestion-quick')).toBeGreaterThan(KEPT_JOBS / 2);
    for (const lane of LANES) {
      expect(await keptJobs(lane)).toBeLessThanOrEqual(KEPT_JOBS + 10);
      // BullMQ keeps some ten thousand events of a queue.
      expect(await redis.xLen(`${QUEUE_PREFIX}:${lane}:events`)).toBeLessThan(12_000);
    }
    // Events that no worker has aggregated yet are there besides.
    const recent = () => client.get<{ metadata: object }[]>('/usage/recent?limit=1000');
    await until(async () => (await recent()).body.length === KEEP_RECORDS);
  });
});
