import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { endOf } from '../support/processes.js';
import { S3_BUCKET, startTestS3, type TestS3 } from '../support/s3.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let s3: TestS3;
let service: Service;
let client: Client;

beforeAll(async () => {
  s3 = await startTestS3();
  service = await startService({ env: { ...s3.env, QUIRE_S3_TIMEOUT_SECONDS: '5' } });
  client = createClient(service.url, 'alice');
});

afterAll(async () => {
  await service.stop();
  await s3.stop();
});

const documentKeys = async () => (await s3.keys()).filter((key) => !key.startsWith('markers/'));

async function download(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${service.url}${path}/download`, {
    headers: { authorization: client.authorization },
  });
  return { status: response.status, text: await response.text() };
}

test('a file is ingested, downloaded, replaced and deleted, and then its object is gone', async () => {
  const first = `A heron stands. ${'It waits for fish. '.repeat(20)}`;
  const { status, body } = await client.ingestFile(Buffer.from(first), 'heron.txt');
  expect(status).toBe(200);
  const [key] = await documentKeys();
  expect(body.storage_info).toEqual({ bucket: S3_BUCKET, key });
  const path = `/documents/${body.external_id}`;
  expect(await download(path)).toEqual({ status: 200, text: first });
  const [found] = (await client.searchChunks('Who waits for fish?')).body;
  expect(found?.document_id).toBe(body.external_id);
  const signed = await fetch(found?.download_url ?? '');
  expect([signed.status, await signed.text()]).toEqual([200, first]);

  const second = 'A crane dances. '.repeat(1_000);
  const replaced = await client.put<WireDocument>(`${path}/content`, { content: second });
  expect(replaced).toMatchObject({ status: 200, body: { system_metadata: { published_version: 2 } } });
  expect(await download(path)).toEqual({ status: 200, text: second });
  await until(async () => (await documentKeys()).length === 1 && !(await documentKeys()).includes(key ?? ''));

  expect((await client.delete(path)).status).toBe(200);
  await until(async () => (await documentKeys()).length === 0);
});

test('a file of several parts is stored and read', async () => {
  const lines = Array.from({ length: 120_000 }, () => randomBytes(24).toString('hex'));
  const bytes = Buffer.from(`${lines.join('\n')}\nThe grebe dives.`);
  const { status, body } = await client.ingestFile(bytes, 'large.csv', { prefer: 'respond-async' });
  expect(status).toBe(202);
  const path = `/documents/${body.external_id}`;
  const { text } = await download(path);
  expect(Buffer.from(text).equals(bytes)).toBe(true);
  expect((await client.delete(path)).status).toBe(200);
});

test('while S3 is away uploads and downloads get 503, searches go on, and all works when it is back', async () => {
  const { body } = await client.ingestText('The bittern booms.');
  const { body: file } = await client.ingestFile(Buffer.from('The bittern hides.'), 'bittern.txt');
  await s3.crash();
  const refused = await client.ingestFile(Buffer.from('Refused.'), 'refused.txt');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
  expect((await download(`/documents/${file.external_id}`)).status).toBe(503);
  // Short texts need no S3.
  expect((await client.ingestText('A scoter whistles.')).status).toBe(200);
  expect(await download(`/documents/${body.external_id}`)).toMatchObject({
    status: 200,
    text: 'The bittern booms.',
  });
  expect((await client.searchChunks('Who booms?')).body[0]?.document_id).toBe(body.external_id);
  const ready = await client.get('/health/ready');
  expect(ready).toMatchObject({
    status: 503,
    body: { components: { storage: 'unavailable', redis: 'ready' } },
  });
  await s3.start();
  await service.untilReady();
  expect((await client.ingestFile(Buffer.from('A teal whistles.'), 'teal.txt')).status).toBe(200);
});

test('an API that starts while S3 is away is not ready, and is once S3 is there', async () => {
  await s3.crash();
  await service.startApi();
  await until(async () => {
    const answer = await client
      .get<{ components?: Record<string, string> }>('/health/ready')
      .catch(() => null);
    return answer?.status === 503 && answer.body.components?.['index'] === 'ready';
  });
  expect((await client.get('/health/ready')).body).toMatchObject({ components: { storage: 'unavailable' } });
  await s3.start();
  await service.untilReady();
  expect((await client.ingestText('A smew arrives.')).status).toBe(200);
});

test('what S3 refuses stops the start, and names the setting', async () => {
  const wrong = {
    's3.bucket = "no-such-bucket": must exist': { QUIRE_S3_BUCKET: 'no-such-bucket' },
    's3.access_key_id: ': { QUIRE_S3_ACCESS_KEY_ID: 'nobody' },
  };
  for (const [message, env] of Object.entries(wrong)) {
    const [code, output] = await endOf(service.startWorker('ingestion', env));
    service.workers.pop();
    expect([code, output]).toEqual([78, expect.stringContaining(message)]);
    expect(output).not.toContain('S3RVER');
  }
});
