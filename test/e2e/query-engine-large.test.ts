import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { watchHeldUp } from '../support/held-up.js';
import { startQueryEngine } from '../support/query-engine-server.js';
import { describeWithQueryEngine } from '../support/query-engine.js';
import type { TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

const CHUNKS = 10_000;
/** The time of its commands; to take all of them in at once would take it many seconds. */
const MAX_HELD_MILLISECONDS = 1_000;

describeWithQueryEngine('a document of ten thousand chunks on a graph', (engine) => {
  let redis: TestRedis;
  let service: Service;
  let client: Client;
  let raw: Redis;

  beforeAll(async () => {
    redis = await startQueryEngine(engine);
    service = await startService({
      redis,
      env: {
        QUIRE_INDEX: 'query-engine',
        QUIRE_QUERY_ENGINE_ALGORITHM: 'hnsw',
        QUIRE_CHUNK_SIZE: '16',
        QUIRE_CHUNK_OVERLAP: '0',
      },
    });
    client = createClient(service.url, 'owner-of-much');
    raw = createRedis(redis.url, { failFast: true, onError: () => undefined });
    await raw.connect();
  });
  afterAll(async () => {
    raw.destroy();
    await service.stop();
    await redis.stop();
  });

  /** Does something while it searches, which must go on; no command may hold Redis up for long. */
  const meanwhile = async <Result>(of: string, work: () => Promise<Result>): Promise<Result> => {
    const done = new AbortController();
    let searches = 0;
    const searching = async () => {
      for (; !done.signal.aborted; searches += 1) {
        const { status, body } = await client.searchChunks('Who kept the lighthouse?', { k: 3 });
        expect([status, body[0]?.content]).toEqual([200, 'The lighthouse of Skagen was kept by Ane.']);
      }
    };
    const held = await watchHeldUp(raw);
    const working = work().finally(() => {
      done.abort();
    });
    const [result] = await Promise.all([working, searching()]);
    const longest = await held();
    process.stderr.write(
      `${of}: Redis was held up for ${longest.toFixed(0)} ms, ${String(searches)} searches\n`,
    );
    expect(longest).toBeLessThan(MAX_HELD_MILLISECONDS);
    expect(searches).toBeGreaterThan(3);
    return result;
  };

  test('is published, patched and deleted while searches are answered', async () => {
    await client.ingestText('The lighthouse of Skagen was kept by Ane.');
    // A chunk each: so many tokens that no two fit together.
    const sentences = Array.from(
      { length: CHUNKS },
      (_, i) => `Crate ${String(i)} holds ${String(i * 7)} yards of grey linen from pier ${String(i % 50)}.`,
    );
    const document = await meanwhile('publish', async () => {
      const { body } = await client.ingestText(sentences.join('\n\n'), {}, { prefer: 'respond-async' });
      await until(async () => {
        const { body: now } = await client.get<WireDocument>(`/documents/${body.external_id}`);
        return now.system_metadata.status === 'completed';
      }, 240);
      return body;
    });
    const path = `/documents/${document.external_id}`;
    const { body: published } = await client.get<WireDocument>(path);
    expect(published.system_metadata.chunk_count).toBeGreaterThanOrEqual(CHUNKS);
    const find = async (filters: unknown) =>
      (await client.searchChunks('grey linen from pier 7', { k: 5, filters })).body.length;
    expect([await find(null), await find({ colour: 'grey' })]).toEqual([5, 0]);

    await meanwhile('patch', async () => {
      await client.patch(path, { metadata: { colour: 'grey' } });
      await until(async () => {
        const { body: now } = await client.get<WireDocument>(path);
        return now.system_metadata.stage !== 'access';
      }, 240);
    });
    expect(await find({ colour: 'grey' })).toBe(5);

    await meanwhile('delete', async () => {
      expect((await client.delete(path)).status).toBeLessThan(300);
      expect(await find({ colour: 'grey' })).toBe(0);
      await until(async () => (await raw.sCard(keys.garbage)) === 0, 240);
    });
    const left = await client.searchChunks('grey linen from pier 7', { k: 100 });
    expect(left.body.filter(({ document_id: id }) => id === document.external_id)).toEqual([]);
  }, 600_000);
});
