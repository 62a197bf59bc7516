import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type WireDocument } from '../support/client.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { storedSources } from '../support/stored-sources.js';
import { until } from '../support/until.js';

let redis: TestRedis;
let service: Service;

beforeAll(async () => {
  redis = await startTestRedis({ arguments: ['--appendfsync', 'always'] });
  service = await startService({ redis });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

test('a short text that was acknowledged survives when all processes are killed, without any file', async () => {
  const client = createClient(service.url, 'alice');
  await Promise.all(service.workers.map((worker) => worker.kill('SIGKILL')));
  service.workers.length = 0;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      client.ingestText(`The wigeon${String(i)} grazes.`, {}, { prefer: 'respond-async' }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  await service.api.kill('SIGKILL');
  await redis.crash();
  expect(await storedSources(service.dataDirectory)).toEqual([]);
  await rm(join(service.dataDirectory, 'objects'), { recursive: true, force: true });
  await redis.start();
  await service.startApi();
  service.startWorker();
  await service.untilReady();
  for (const [i, { body }] of answers.entries()) {
    const id = body.external_id;
    await until(async () => {
      const { system_metadata: system } = (await client.get<WireDocument>(`/documents/${id}`)).body;
      return system.status === 'completed';
    });
    const response = await fetch(`${service.url}/documents/${id}/download`, {
      headers: { authorization: client.authorization },
    });
    expect(await response.text()).toBe(`The wigeon${String(i)} grazes.`);
    expect((await client.searchChunks(`wigeon${String(i)}`)).body[0]?.document_id).toBe(id);
  }
});
