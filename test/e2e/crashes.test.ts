import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUE_PREFIX } from '../../src/shared/redis/keys.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { startService, type Service } from '../support/service.js';

let service: Service;

/** Each test has a user of its own, and leaves the service running and whole. */
beforeAll(async () => {
  service = await startService({ workers: WORKERS, env: { QUIRE_INGEST_PARSER_PROCESSES: '1' } });
});

afterAll(async () => {
  await service.stop();
});

const WORKERS = ['ingestion,embedding', 'ingestion,embedding', 'cache,usage,maintenance'];

const isRunning = ({ system_metadata: { status } }: WireDocument) =>
  status === 'queued' || status === 'processing';

/** A service that comes back may answer 503 for a moment more. */
async function untilFinal(client: Client, ids: readonly string[]): Promise<WireDocument[]> {
  const end = Date.now() + 120_000;
  for (;;) {
    const documents = await Promise.all(ids.map((id) => client.get<WireDocument>(`/documents/${id}`)));
    const bodies = documents.map(({ body }) => body);
    const isOver = documents.every(({ status, body }) => status === 200 && !isRunning(body));
    if (isOver || Date.now() > end) return bodies;
    await sleep(200);
  }
}

/**
 * Texts of a few chunks each, all different, with a word of their own to be found by. Every other is long: those go by
 * way of a parser process and the embedding queue, short ones are ingested in one go.
 */
function makeTexts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const sentences = Array.from(
      { length: i % 2 === 0 ? 120 : 300 },
      (_, n) => `Sentence ${String(n)} of report ${String(i)} is dull.`,
    );
    return `${sentences.join(' ')} The password of report ${String(i)} is quokka${String(i)}.`;
  });
}

async function ingestAll(client: Client, texts: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) {
    const reply = await client.ingestText(text, {}, { prefer: 'respond-async' });
    expect(reply.status).toBe(202);
    ids.push(reply.body.external_id);
  }
  return ids;
}

async function expectAllFound(client: Client, ids: readonly string[]): Promise<void> {
  for (const [i, id] of ids.entries()) {
    const { body } = await client.searchChunks(`password quokka${String(i)}`, { k: 1 });
    expect({ i, body }).toMatchObject({ i, body: [{ document_id: id }] });
    expect(body[0]?.content).toContain(`quokka${String(i)}`);
  }
}

describe('what has been answered 200 or 202', () => {
  test('survives workers that are killed again and again, and is counted once', async () => {
    const client = createClient(service.url, 'workers');
    const killing = (async () => {
      for (let round = 0; round < 4; round += 1) {
        await sleep(400);
        await service.workers[round % 2 === 0 ? service.workers.length - 1 : 0]?.kill('SIGKILL');
        service.startWorker('ingestion,embedding,cache,usage,maintenance');
      }
    })();
    const ids = await ingestAll(client, makeTexts(40));
    await killing;
    const documents = await untilFinal(client, ids);
    expect(documents.map(({ system_metadata }) => system_metadata.status)).toEqual(
      ids.map(() => 'completed'),
    );
    await expectAllFound(client, ids);
    const { body: stats } = await client.get<Record<string, number>>('/usage/stats');
    expect(stats['ingest_text']).toBe(ids.length);
  });

  test('survives the crash of the API', async () => {
    const client = createClient(service.url, 'api');
    const ids = await ingestAll(client, makeTexts(10));
    await service.api.kill('SIGKILL');
    await service.startApi();
    await service.untilReady();
    const documents = await untilFinal(client, ids);
    expect(documents.map(({ system_metadata }) => system_metadata.status)).toEqual(
      ids.map(() => 'completed'),
    );
    await expectAllFound(client, ids);
  });

  test('is in the collections that it was put into, though API and workers are killed meanwhile', async () => {
    const client = createClient(service.url, 'collector');
    const make = async () => (await client.post<{ id: string }>('/collections', { name: 'kept' })).body.id;
    const [ingestedInto, putInto] = [await make(), await make()];
    const texts = makeTexts(16);
    const ids: string[] = [];
    for (const text of texts) {
      const reply = await client.ingestText(text, { collection: ingestedInto }, { prefer: 'respond-async' });
      expect(reply.status).toBe(202);
      ids.push(reply.body.external_id);
    }
    const acknowledged = new Set<string>();
    const put = async (id: string) => {
      const path = `/collections/${putInto}/documents/${id}`;
      const reply = await client.put(path, {}, { prefer: 'respond-async' }).catch(() => null);
      if (reply && reply.status < 203) acknowledged.add(id);
    };
    const killing = (async () => {
      await sleep(100);
      await Promise.all(service.workers.map((worker) => worker.kill('SIGKILL')));
      await service.api.kill('SIGKILL');
    })();
    for (const id of ids) await put(id);
    await killing;
    await service.startApi();
    for (const queues of WORKERS) service.startWorker(queues);
    await service.untilReady();
    expect(acknowledged.size).toBeGreaterThan(0);
    const documents = await untilFinal(client, ids);
    expect(documents.map(({ system_metadata }) => system_metadata.status)).toEqual(
      ids.map(() => 'completed'),
    );
    const listed = async (collection: string) => {
      const { body } = await client.get<WireDocument[]>(`/documents?collection=${collection}`);
      return body.map(({ external_id: id }) => id).sort();
    };
    expect(await listed(ingestedInto)).toEqual([...ids].sort());
    expect(await listed(putInto)).toEqual(expect.arrayContaining([...acknowledged]));
    for (const [i, id] of ids.entries()) {
      const { body } = await client.searchChunks(`password quokka${String(i)}`, {
        k: 1,
        collection: ingestedInto,
      });
      expect({ i, body }).toMatchObject({ i, body: [{ document_id: id }] });
    }
  });

  test('is counted though the API crashes: all but the reads of its last 100 ms, and none of these twice', async () => {
    const client = createClient(service.url, 'reads');
    const search = async (times: number) => {
      for (let n = 0; n < times; n += 1) expect((await client.searchChunks('password')).status).toBe(200);
    };
    await search(20);
    await sleep(100);
    await search(5);
    await service.api.kill('SIGKILL');
    await service.startApi();
    await service.untilReady();
    const { body: stats } = await client.get<Record<string, number>>('/usage/stats');
    const { retrieve_chunks: counted = 0 } = stats;
    expect(counted).toBeGreaterThanOrEqual(20);
    expect(counted).toBeLessThanOrEqual(25);
    expect((await client.get<unknown[]>('/usage/recent')).body).toHaveLength(counted);

    await search(20);
    await service.api.kill('SIGTERM');
    await service.startApi();
    await service.untilReady();
    expect((await client.get('/usage/stats')).body).toEqual({ retrieve_chunks: counted + 20 });
  });

  test('survives the crash of Redis; meanwhile requests get 503 with Retry-After', async () => {
    const client = createClient(service.url, 'redis');
    const ids = await ingestAll(client, makeTexts(10));
    await service.redis.crash();
    for (const reply of [
      await client.ingestText('lost?'),
      await client.searchChunks('password'),
      await client.get(`/documents/${ids[0] ?? ''}`),
      await client.get('/usage/stats'),
    ]) {
      expect(reply.status).toBe(503);
      expect(reply.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(reply.body).toEqual({ detail: expect.any(String) });
    }
    await service.redis.start();
    await service.untilReady();
    const documents = await untilFinal(client, ids);
    expect(documents.map(({ system_metadata }) => system_metadata.status)).toEqual(
      ids.map(() => 'completed'),
    );
    await expectAllFound(client, ids);
    const { body: stats } = await client.get<Record<string, number>>('/usage/stats');
    expect(stats['ingest_text']).toBe(ids.length);
  });

  test('of one source is one document with its last content, though all are killed while it is sent', async () => {
    const client = createClient(service.url, 'sources');
    const kill = async () => {
      for (let round = 0; round < 3; round += 1) {
        await sleep(500);
        await service.workers[0]?.kill('SIGKILL');
        service.startWorker('ingestion,embedding,cache,usage,maintenance');
        await service.api.kill('SIGKILL');
        await service.startApi();
      }
    };
    const send = async (content: string) => {
      for (;;) {
        const sent = client.ingestText(
          content,
          { source_id: '/reports/one.txt' },
          { prefer: 'respond-async' },
        );
        const reply = await sent.catch(() => null);
        if (reply?.status === 200 || reply?.status === 202) return reply.body.external_id;
        await sleep(100);
      }
    };
    const texts = makeTexts(13);
    const last = texts.pop() ?? '';
    const ids = new Set<string>();
    const killing = kill();
    // Two at a time, so that each of them races with another.
    for (let first = 0; first < texts.length; first += 2)
      for (const id of await Promise.all(texts.slice(first, first + 2).map(send))) ids.add(id);
    await killing;
    await service.untilReady();
    ids.add(await send(last));
    expect(ids.size).toBe(1);
    const [document] = await untilFinal(client, [...ids]);
    expect(document?.system_metadata.status).toBe('completed');
    const { body: all } = await client.get<WireDocument[]>('/documents');
    expect(all.map(({ external_id: id }) => id)).toEqual([...ids]);
    expect((await client.searchChunks('password quokka12', { k: 1 })).body[0]?.content).toContain('quokka12');
    const { body: hits } = await client.searchChunks('password quokka', { k: 100 });
    for (const { content } of hits) expect(content).not.toMatch(/quokka(?!12)/);
  });

  test('survives the loss of all queues', async () => {
    const client = createClient(service.url, 'queues');
    await Promise.all(service.workers.map((worker) => worker.kill('SIGKILL')));
    const ids = await ingestAll(client, makeTexts(5));
    const redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
    await redis.connect();
    for await (const names of redis.scanIterator({ MATCH: `${QUEUE_PREFIX}*` })) {
      if (names.length > 0) await redis.del(names);
    }
    await redis.close();
    service.startWorker();
    const documents = await untilFinal(client, ids);
    expect(documents.map(({ system_metadata }) => system_metadata.status)).toEqual(
      ids.map(() => 'completed'),
    );
    await expectAllFound(client, ids);
  });
});
