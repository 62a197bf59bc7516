import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generationId } from '../../src/shared/document.js';
import { remove, replaceContent } from '../../src/shared/documents/transitions.js';
import type { FailureCode } from '../../src/shared/errors.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { makeContent, makeOperation } from '../support/documents.js';
import {
  documentsOf,
  idOf,
  isReplay,
  newKey,
  postFile,
  postText,
  type Asked,
} from '../support/keyed-requests.js';
import { playFailure, playIngest } from '../support/play-worker.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3, idempotencyBytes: 300_000 });
});
afterAll(async () => {
  await api.close();
});

describe('what a key may be', () => {
  test('422 for two of them', async () => {
    const raw = await openRaw(api.port);
    const head = [
      'POST /ingest/text HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${makeToken()}`,
      'Idempotency-Key: one',
      'Idempotency-Key: two',
      'Content-Type: application/json',
      'Content-Length: 17',
      'Connection: close',
    ];
    raw.socket.write(`${head.join('\r\n')}\r\n\r\n{"content": "two"}`);
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 422 /);
  });

  test.each([
    ['is empty', ''],
    ['is only quotes', '""'],
    ['is too long', 'k'.repeat(256)],
    ['is not ASCII', 'schl\u00fcssel'],
    ['holds a tab', 'a\tb'],
  ])('422 for one that %s', async (_what, key) => {
    const answer = await postText(api, { content: 'unused' }, { key });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc: ['header', 'Idempotency-Key'] }] });
  });

  test('a key of 255 characters, and one in the quotes of a structured header', async () => {
    expect((await postText(api, { content: 'long' }, { key: 'k'.repeat(255) })).status).toBe(202);
    const plain = await postText(api, { content: 'quoted' }, { key: 'in quotes' });
    const quoted = await postText(api, { content: 'quoted' }, { key: '"in quotes"' });
    expect(quoted.body).toEqual(plain.body);
    expect(isReplay(quoted)).toBe(true);
  });

  test('routes that create nothing ignore the header', async () => {
    const answer = await api.request(`/documents/${randomUUID()}/cancel`, {
      method: 'POST',
      headers: { 'Idempotency-Key': '' },
      token: makeToken(),
    });
    expect(answer.status).toBe(404);
  });
});

/** Sends a caller's first text, whose ingest fails, and waits for the answer. */
async function postFailing(content: string, asked: Asked & { as: string }, code: FailureCode) {
  const answering = postText(api, { content }, asked);
  await until(async () => (await documentsOf(api, asked.as)).length === 1);
  const [id = ''] = await documentsOf(api, asked.as);
  await playFailure(api, id, code);
  return { first: await answering, id };
}

describe('an ingest that fails', () => {
  test('by its content is answered 400 again, and not begun again', async () => {
    const asked = { key: newKey(), as: 'failing', prefer: 'wait=3' };
    const { first, id } = await postFailing('bad', asked, 'no_text');
    expect(first.status).toBe(400);
    const second = await postText(api, { content: 'bad' }, asked);
    expect(second.status).toBe(400);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('location')).toBe(`/documents/${id}`);
    expect(await documentsOf(api, 'failing')).toEqual([id]);
  });

  test('by our fault is begun again with the same document', async () => {
    const asked = { key: newKey(), as: 'provider', prefer: 'wait=3' };
    const { first, id } = await postFailing('good', asked, 'provider');
    expect(first.status).toBe(503);
    const second = postText(api, { content: 'good' }, asked);
    await until(async () => (await api.records.read(id))?.status === 'queued');
    await playIngest(api, id, ['good']);
    expect((await second).status).toBe(200);
    expect(idOf(await second)).toBe(id);
    expect(await documentsOf(api, 'provider')).toEqual([id]);
  });
});

describe('a client that leaves before its answer', () => {
  test('gets the answer with its next request', async () => {
    const key = newKey();
    const leaving = new AbortController();
    const first = fetch(`${api.url}/ingest/text`, {
      method: 'POST',
      body: JSON.stringify({ content: 'left' }),
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
        Authorization: `Bearer ${makeToken({ entity_id: 'leaver' })}`,
      },
      signal: leaving.signal,
    });
    await until(async () => (await documentsOf(api, 'leaver')).length === 1);
    const [id = ''] = await documentsOf(api, 'leaver');
    leaving.abort();
    await expect(first).rejects.toThrow();
    await until(async () => (await api.redis.hGet(keys.idempotency('leaver', key), 'until')) === '0');
    await playIngest(api, id, ['left']);
    const second = await postText(api, { content: 'left' }, { key, as: 'leaver' });
    expect(second.status).toBe(200);
    expect(idOf(second)).toBe(id);
    expect(isReplay(second)).toBe(true);
  });

  test('in the middle of an upload has used up neither the key nor anything else', async () => {
    const key = newKey();
    const files = (await api.storedFiles()).length;
    const boundary = 'cut';
    const head = [
      'POST /ingest/file HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${makeToken({ entity_id: 'cut off' })}`,
      `Idempotency-Key: ${key}`,
      `Content-Type: multipart/form-data; boundary=${boundary}`,
      'Content-Length: 5000',
    ];
    const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf`;
    const raw = await openRaw(api.port);
    raw.socket.write(`${head.join('\r\n')}\r\n\r\n${part}`);
    await until(async () => (await api.redis.exists(keys.idempotency('cut off', key))) === 1);
    expect((await postFile(api, {}, { key, as: 'cut off' })).status).toBe(409);
    raw.socket.destroy();
    await until(async () => (await api.redis.exists(keys.idempotency('cut off', key))) === 0);
    expect((await api.storedFiles()).length).toBe(files);
    expect((await postFile(api, {}, { key, as: 'cut off' })).status).toBe(202);
  });
});

describe('what is remembered', () => {
  test('an answer above the bound is made from the document again', async () => {
    const key = newKey();
    const readers = Array.from({ length: 1_000 }, () => randomBytes(120).toString('hex'));
    const body = { content: 'large', access_control: { readers } };
    const first = await postText(api, body, { key });
    expect(first.status).toBe(202);
    const stored = await api.redis.memoryUsage(keys.idempotency('alice', key));
    expect(stored).toBeLessThan(4_000);
    const second = await postText(api, body, { key });
    expect(second.body).toEqual(first.body);
    expect(isReplay(second)).toBe(true);
    // No answer is left to be made of a document that is gone.
    await api.records.update(idOf(first), remove);
    expect((await postText(api, body, { key })).status).toBe(404);
  });

  test('a caller who wants more remembered than there is room for gets a 429, and goes on without a key', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 1_000 && statuses.at(-1) !== 429; i += 1) {
      const metadata = { filler: randomUUID().repeat(100) };
      statuses.push(
        (await postText(api, { content: 'full', metadata }, { key: newKey(), as: 'full' })).status,
      );
    }
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.length).toBeGreaterThan(20);
    const refused = await postText(api, { content: 'full' }, { key: newKey(), as: 'full' });
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await postText(api, { content: 'full' }, { key: newKey(), as: 'not full' })).status).toBe(202);
    const without = await api.request('/ingest/text', {
      method: 'POST',
      body: JSON.stringify({ content: 'full' }),
      headers: { 'Content-Type': 'application/json', Prefer: 'respond-async' },
      token: makeToken({ entity_id: 'full' }),
    });
    expect(without.status).toBe(202);
  });

  test('refused requests leave nothing behind', async () => {
    const key = newKey();
    await postFile(api, { fields: { metadata: '[]' } }, { key, as: 'nothing' });
    expect(await api.redis.exists(keys.idempotency('nothing', key))).toBe(0);
    const counted = await api.redis.hGetAll(keys.idempotencyBytes('nothing'));
    expect(Object.values(counted).map(Number)).toEqual([0]);
  });
});

describe('a document whose content was replaced since', () => {
  test('is still named by the first answer', async () => {
    const key = newKey();
    const first = await postText(api, { content: 'v1' }, { key });
    const operation = makeOperation();
    await api.records.update(idOf(first), (record) =>
      replaceContent(record, {
        content: makeContent({ version: 2, storageKey: generationId(record) }),
        operation,
      }),
    );
    expect((await postText(api, { content: 'v1' }, { key })).body).toEqual(first.body);
  });
});
