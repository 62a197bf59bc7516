import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createClient } from '../support/client.js';
import { startFakeOpenAI, type FakeOpenAI } from '../support/fake-openai.js';
import { startQueryEngine } from '../support/query-engine-server.js';
import { describeWithQueryEngine } from '../support/query-engine.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { startReindex } from '../support/reindex.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

describe('reindexing with the exact index', () => {
  testReindexing('exact', () => startTestRedis());
});

describeWithQueryEngine('reindexing with the query-engine index', (engine) => {
  testReindexing('query-engine', () => startQueryEngine(engine));
});

function testReindexing(name: 'exact' | 'query-engine', startRedis: () => Promise<TestRedis>): void {
  let redisServer: TestRedis;
  let redis: Redis;
  let provider: FakeOpenAI;
  let service: Service;

  const openai = () => ({ QUIRE_EMBEDDER: 'openai', QUIRE_EMBEDDING_BASE_URL: provider.url });
  const words = (number: number) =>
    `The marmot${String(number)} sleeps all winter in burrow ${String(number)}.`;

  beforeAll(async () => {
    provider = await startFakeOpenAI({ dimensions: 128 });
    redisServer = await startRedis();
    redis = createRedis(redisServer.url, { failFast: true, onError: () => undefined });
    await redis.connect();
    service = await startService({
      redis: redisServer,
      env: { QUIRE_CHUNK_SIZE: '24', QUIRE_CHUNK_OVERLAP: '0', QUIRE_INGEST_PARSER_PROCESSES: '1' },
    });
  });
  afterAll(async () => {
    await service.stop();
    redis.destroy();
    await redisServer.stop();
    await provider.stop();
  });

  /** Ends what noticed that its settings are old, and starts it with others. */
  const restart = async (env: Record<string, string>) => {
    const old = [service.api, ...service.workers.splice(0)];
    await Promise.all(old.map(({ child }) => until(() => child.exitCode === 75)));
    await service.startApi(env);
    service.startWorker(undefined, env);
    await service.untilReady();
  };
  const client = () => createClient(service.url);
  // Some of these sentences have the same vector: the fake model has few dimensions.
  const finds = async (number: number) => {
    const { status, body } = await client().searchChunks(words(number), { k: 5 });
    return {
      status,
      found: status === 200 && body.some(({ content }) => content.includes(words(number))),
    };
  };
  const chunkKeys = async () => (await redis.keys(`${keys.chunkPrefix}*`)).sort();

  test('settings of another model stop the start and name the command', async () => {
    for (let number = 0; number < 40; number += 1) {
      expect((await client().ingestText(words(number))).status).toBe(200);
    }
    // Several batches of chunks in one document.
    const long = Array.from({ length: 150 }, (_, number) => words(1_000 + number)).join('\n\n');
    expect((await client().ingestText(long)).status).toBe(200);
    const worker = service.startWorker('usage', openai());
    await until(() => worker.child.exitCode === 78);
    expect(worker.output()).toContain('npx quire reindex');
    service.workers.pop();
  });

  test('is cut off, goes on where it was, and searches answer all the time', async () => {
    provider.configure({ latencyMilliseconds: 20 });
    let wrong = 0;
    const done = new AbortController();
    const searching = (async () => {
      for (let number = 0; !done.signal.aborted; number = (number + 1) % 40) {
        const { status, found } = await finds(number).catch(() => ({ status: 0, found: false }));
        // Once the new index serves, the old process may say that it cannot, or be gone: never that there is nothing.
        if (status === 200 && !found) wrong += 1;
        // Leaves the processor to what it searches in.
        await sleep(20);
      }
    })();
    const first = startReindex(service, openai());
    await until(async () => (await redis.hGet(keys.reindexing, 'documents')) !== null);
    await until(async () => Number(await redis.hGet(keys.reindexing, 'chunks')) > 0);
    first.child.kill('SIGKILL');
    expect(await first.ended).toBeNull();
    expect(await finds(3)).toEqual({ status: 200, found: true });
    expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^quire_reindexed_chunks [1-9]/m);
    expect((await client().ingestText(words(777))).status).toBe(200);

    const second = startReindex(service, openai());
    const code = await second.ended;
    expect([code, second.output()]).toEqual([0, expect.stringContaining('Done.')]);
    expect(second.output()).toContain('Going on');
    await restart(openai());
    done.abort();
    await searching;
    expect(wrong).toBe(0);

    // Texts of the pages that the first run had finished were not sent again.
    const chunks = (await chunkKeys()).length;
    expect(provider.stats.embeddedTexts).toBeLessThan(chunks + 64 + 200);
    for (const number of [0, 39, 777, 1_000, 1_149])
      expect({ number, ...(await finds(number)) }).toEqual({ number, status: 200, found: true });
    expect((await client().ingestText(words(888))).status).toBe(200);
    expect(await finds(888)).toEqual({ status: 200, found: true });
  });

  test('old vectors are dropped, and each chunk has one of the new model', async () => {
    for (const key of await chunkKeys()) {
      const fields = await redis.hKeys(key);
      expect(fields.filter((field) => field.startsWith('vector'))).toEqual(['vector2']);
      expect(await redis.hStrLen(key, 'vector2')).toBe(4 * 128);
    }
    expect(await redis.hGetAll(keys.schema)).toMatchObject({ vectorField: 'vector2', dimensions: '128' });
    if (name === 'query-engine')
      expect((await redis.ft._list()).filter((each) => each.includes('chunks'))).toHaveLength(1);
  });

  test('vectors of another type are converted without asking the model again', async () => {
    const malformed = await client().ingestText(words(555));
    await redis.hSet(keys.document(malformed.body.external_id), 'status', '{"not": ');
    const before = provider.stats.embeddedTexts;
    const env = { ...openai(), QUIRE_EMBEDDING_VECTOR_TYPE: 'float16' };
    const run = startReindex(service, env);
    expect([await run.ended, run.output()]).toEqual([0, expect.stringContaining('Done.')]);
    expect(run.output().match(/.*malformed.*/g)).toEqual([
      expect.stringContaining(malformed.body.external_id),
      expect.stringMatching(/^1 document was left out/),
    ]);
    expect(provider.stats.embeddedTexts - before).toBeLessThanOrEqual(1);
    await restart(env);
    for (const number of [0, 777, 1_149])
      expect({ number, ...(await finds(number)) }).toEqual({ number, status: 200, found: true });
    const converted = (await chunkKeys()).filter((key) => !key.includes(malformed.body.external_id));
    for (const key of converted) expect(await redis.hStrLen(key, 'vector3')).toBe(2 * 128);
    const again = startReindex(service, env);
    expect([await again.ended, again.output()]).toEqual([
      0,
      expect.stringContaining('what the settings ask for'),
    ]);
  });

  if (name !== 'query-engine') return;

  test('another kind of index is refused, then built beside the one that serves', async () => {
    const flat = { ...openai(), QUIRE_EMBEDDING_VECTOR_TYPE: 'float16' };
    const graph = { ...flat, QUIRE_QUERY_ENGINE_ALGORITHM: 'hnsw' };
    await service.startApi(graph);
    const { api } = service;
    await until(() => api.child.exitCode === 78);
    expect(api.output()).toContain('npx quire reindex');
    await service.startApi(flat);
    await service.untilReady();
    const run = startReindex(service, graph);
    expect([await run.ended, run.output()]).toEqual([0, expect.stringContaining('Done.')]);
    const { api: old } = service;
    await until(() => old.child.exitCode === 75);
    await service.startApi(graph);
    await service.untilReady();
    expect(await redis.hGet(keys.schema, 'index')).toContain('hnsw');
    for (const number of [0, 777, 1_149])
      expect({ number, ...(await finds(number)) }).toEqual({ number, status: 200, found: true });
  });
}
