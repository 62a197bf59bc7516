import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRecords } from '../../src/shared/documents/records.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { createClient, type Client } from '../support/client.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let redis: Redis;
let client: Client;

beforeAll(async () => {
  service = await startService({ env: { QUIRE_LOG_LEVEL: 'debug' } });
  redis = createRedis(service.redis.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  client = createClient(service.url);
});

afterAll(async () => {
  redis.destroy();
  await service.stop();
});

/** More chunks than are published without being prepared. */
const longText = (word: string) =>
  `${Array.from({ length: 1_150 }, (_, n) => `Otters swim in river ${String(n)}. `.repeat(90)).join('\n\n')}${word}`;
const searchFor = async (word: string) => (await client.searchChunks(word, { k: 1 })).body[0]?.content;

test('a long document is prepared in the index before it is published, and found at once then', async () => {
  const { status, body } = await client.ingestText(longText('axolotl'), {}, { prefer: 'wait=120' });
  expect(await searchFor('axolotl')).toContain('axolotl');
  expect(status).toBe(200);
  expect(body.system_metadata.chunk_count).toBeGreaterThan(1_000);
  const [worker] = service.workers;
  expect(worker?.output()).toContain('job waits');
});

test('a frozen API holds up no publication, and finds the document once it goes on', async () => {
  const { body } = await client.ingestText(longText('quokka'), {}, { prefer: 'respond-async' });
  const records = createRecords(redis);
  service.api.child.kill('SIGSTOP');
  try {
    await until(async () => (await records.read(body.external_id))?.status === 'completed', 120);
  } finally {
    service.api.child.kill('SIGCONT');
  }
  // Its connection to Redis may have ended while it was frozen. The first answer that it gives must be right.
  let found: string | undefined;
  await until(async () => {
    const { status, body: hits } = await client.searchChunks('quokka', { k: 1 });
    if (status === 200) found = hits[0]?.content;
    return status === 200;
  });
  expect(found).toContain('quokka');
});
