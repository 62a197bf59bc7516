import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createRedis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createClient, type Client, type WireChunk, type WireDocument } from '../support/client.js';
import { startQueryEngine } from '../support/query-engine-server.js';
import { describeWithQueryEngine } from '../support/query-engine.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { startService, type Service, type ServiceOptions } from '../support/service.js';
import { until } from '../support/until.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(options: ServiceOptions & { readonly redis: TestRedis }): Promise<Service> {
  const service = await startService(options);
  closing.push(() => service.stop());
  return service;
}
const stopLater = (redis: TestRedis): TestRedis => {
  closing.push(() => redis.stop());
  return redis;
};

async function connect({ url }: TestRedis) {
  const client = createRedis(url, { failFast: true, onError: () => undefined });
  await client.connect();
  closing.push(() => {
    client.destroy();
    return Promise.resolve();
  });
  return client;
}

/** Some of everything that an index answers. */
async function ask(client: Client) {
  const filters = [null, { year: { $gte: 1900 } }, { $not: { kind: 'letter' } }, { 'by.name': 'Ada' }];
  return Promise.all(
    filters.map(async (filter) => {
      const chunks = await client.searchChunks('the bridge over the river', { filters: filter, k: 20 });
      const documents = await client.post<WireChunk[]>('/retrieve/docs', { query: 'river', filters: filter });
      const list = await client.get<WireDocument[]>(
        `/documents?filters=${encodeURIComponent(JSON.stringify(filter))}`,
      );
      expect([chunks.status, documents.status, list.status]).toEqual([200, 200, 200]);
      // Links are signed for a time.
      const shown = (all: WireChunk[]) =>
        all.map((each) => [each.document_id, each.chunk_number, each.content, Number(each.score.toFixed(6))]);
      return [shown(chunks.body), shown(documents.body), list.body.map((each) => each.external_id)];
    }),
  );
}

async function ingestSome(client: Client, from: number): Promise<void> {
  for (let n = from; n < from + 6; n += 1) {
    const metadata = {
      year: 1890 + 5 * n,
      kind: n % 2 === 0 ? 'letter' : 'report',
      by: { name: n < 3 ? 'Ada' : 'Ben' },
    };
    const { status } = await client.ingestText(`Report ${String(n)} on the bridge over the river Elde.`, {
      metadata,
    });
    expect(status).toBe(200);
  }
}

describeWithQueryEngine('the service on a Redis with the Query Engine', (engine) => {
  test('moves from one index to the other and back, without anything being put in again', async () => {
    const redis = stopLater(await startQueryEngine(engine));
    const service = await serve({ redis, env: { QUIRE_INDEX: 'exact' } });
    const client = createClient(service.url, 'mover');
    await ingestSome(client, 0);
    const first = await ask(client);
    expect(first[0]?.[0]).toHaveLength(6);

    await service.startApi({ QUIRE_INDEX: 'auto' });
    await service.untilReady();
    expect(service.api.output()).toContain(
      '"index":"query-engine","reason":"this Redis has the Query Engine"',
    );
    expect(await ask(client)).toEqual(first);

    await ingestSome(client, 6);
    const [newest] = (await client.get<WireDocument[]>('/documents?limit=1')).body;
    const path = `/documents/${newest?.external_id ?? ''}`;
    expect((await client.patch(path, { metadata: { year: 2_000, kind: 'letter' } })).status).toBe(200);
    const raw = await connect(redis);
    expect((await client.delete(`/documents/${String(first[0]?.[2]?.[0])}`)).status).toBeLessThan(300);
    // Its terms leave the owner's statistics with its chunks.
    await until(async () => (await raw.sCard(keys.garbage)) === 0);
    const second = await ask(client);
    expect(second[0]?.[0]).toHaveLength(11);
    expect(second).not.toEqual(first);

    await service.startApi({ QUIRE_INDEX: 'exact' });
    await service.untilReady();
    expect(await ask(client)).toEqual(second);
  });

  test('starts twice at the same moment on an empty Redis, and each finds what came in by the other', async () => {
    const redis = stopLater(await startQueryEngine(engine));
    const dataDirectory = await mkdtemp(join(tmpdir(), 'quire-data-'));
    closing.push(() => rm(dataDirectory, { recursive: true, force: true }));
    const both = await Promise.all([serve({ redis, dataDirectory }), serve({ redis, dataDirectory })]);
    const clients = both.map(({ url }) => createClient(url, 'twin'));
    for (const client of clients) await ingestSome(client, 0);
    const answers = await Promise.all(clients.map(ask));
    expect(answers[0]?.[0]?.[0]).toHaveLength(12);
    expect(answers[1]).toEqual(answers[0]);
  });

  test('after FLUSHALL answers what comes in then, and can be started again', async () => {
    const redis = stopLater(await startQueryEngine(engine));
    const service = await serve({ redis });
    const client = createClient(service.url, 'flushed');
    await ingestSome(client, 0);
    const raw = await connect(redis);
    await raw.flushAll();
    await until(async () => (await client.searchChunks('bridge')).status === 200);
    expect((await client.searchChunks('bridge')).body).toEqual([]);
    // Words are found by postings, lists by the engine, whose indexes have to be made again.
    await until(async () => (await client.get('/documents')).status === 200);
    await ingestSome(client, 0);
    // A running process marks the data anew within a second.
    await until(async () => (await raw.hGet(keys.schema, 'version')) !== null);
    const before = await ask(client);
    expect(before[0]?.[0]).toHaveLength(6);
    await service.startApi();
    await service.untilReady();
    expect(await ask(client)).toEqual(before);
  });
});

test('without the Query Engine the start that asks for it is refused, and the one that may choose says why', async () => {
  const redis = stopLater(await startTestRedis());
  const service = await serve({ redis });
  expect(service.api.output()).toContain('"index":"exact","reason":"this Redis has no Query Engine"');
  await service.startApi({ QUIRE_INDEX: 'query-engine' });
  const refused = service.api;
  await until(() => refused.child.exitCode !== null);
  expect(refused.child.exitCode).toBe(78);
  expect(refused.output()).toContain(
    'index is "query-engine", but this Redis has no Query Engine: connect Redis 8 or Redis Stack, or set "auto" or "exact"',
  );
});
