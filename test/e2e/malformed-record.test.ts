import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentSchema } from '../../src/shared/document.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { Client, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { until } from '../support/until.js';

describeOnEachSharedIndex((service) => {
  let redis: Redis;
  let client: Client;
  const healthy: string[] = [];
  const damaged: string[] = [];
  let loggedBefore = 0;
  /** The repairs of the damage, for the files that use this service afterwards. */
  const mends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
    await redis.connect();
    client = service.client('alice');
    loggedBefore = (await service.apiOutput()).length;
    const ingest = async () => {
      const { status, body } = await client.ingestText('a text about ships');
      expect(status).toBe(200);
      return body.external_id;
    };
    for (let number = 0; number < 3; number += 1) healthy.push(await ingest());
    // Fields that no version of this service writes: damage, or a hand in the data.
    for (const field of Object.keys(documentSchema.shape)) {
      const id = await ingest();
      const before = (await redis.hGet(keys.document(id), field)) ?? '';
      mends.push(() => redis.hSet(keys.document(id), field, before));
      await redis.hSet(keys.document(id), field, '{"not": ');
      damaged.push(id);
    }
    healthy.push(await ingest());
  }, 120_000);
  afterAll(async () => {
    for (const mend of mends) await mend();
    redis.destroy();
  });

  const withoutDamaged = (found: readonly string[]) => found.filter((id) => !damaged.includes(id)).sort();

  test('records that cannot be read hide their own documents alone', async () => {
    const listed = await client.get<WireDocument[]>('/documents');
    expect(listed.status).toBe(200);
    expect(listed.body.map(({ external_id: id }) => id).sort()).toEqual(healthy.toSorted());
    for (const ranking of ['lexical', 'semantic', 'hybrid'])
      for (const filters of [{}, { kind: { $ne: 'letter' } }]) {
        const found = await client.searchChunks('ships', { k: 100, ranking, filters });
        expect(found.status).toBe(200);
        // A search reads only the fields of the others that access and filters look at.
        expect(withoutDamaged(found.body.map(({ document_id: id }) => id))).toEqual(healthy.toSorted());
      }
    const documents = await client.post<{ document_id: string }[]>('/retrieve/docs', {
      query: 'ships',
      k: 100,
    });
    expect(documents.status).toBe(200);
    expect(withoutDamaged(documents.body.map(({ document_id: id }) => id))).toEqual(healthy.toSorted());
  });

  test('such a document is an error for who asks for it, and one in the log for operators', async () => {
    for (const id of damaged) expect((await client.get(`/documents/${id}`)).status).toBe(500);
    await until(async () =>
      (await service.apiOutput()).slice(loggedBefore).includes('its record is malformed'),
    );
  });
});
