import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { remove } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { type ApiAnswer } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { documentsOf, idOf, isReplay, newKey, postFile, postText } from '../support/keyed-requests.js';
import { playIngest } from '../support/play-worker.js';
import { until } from '../support/until.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3, idempotencyBytes: 300_000 });
});
afterAll(async () => {
  await api.close();
});

describe('the same key and the same body', () => {
  test('are answered with the first answer: status, body and headers', async () => {
    const key = newKey();
    const body = { content: 'once', metadata: { a: 1 } };
    const first = await postText(api, body, { key, as: 'once' });
    expect(first.status).toBe(202);
    expect(isReplay(first)).toBe(false);
    await playIngest(api, idOf(first), ['once']);
    const second = await postText(api, body, { key, as: 'once' });
    expect(second.status).toBe(202);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('preference-applied')).toBe('respond-async');
    expect(isReplay(second)).toBe(true);
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await documentsOf(api, 'once')).toEqual([idOf(first)]);
  });

  test('are answered the same for 24 hours, whatever has become of the document', async () => {
    const key = newKey();
    const first = await postText(api, { content: 'to be deleted' }, { key });
    await api.records.update(idOf(first), remove);
    const second = await postText(api, { content: 'to be deleted' }, { key });
    expect(second.body).toEqual(first.body);
    const left = await api.redis.pTTL(keys.idempotency('alice', key));
    expect(left).toBeGreaterThan(23.9 * 3_600_000);
    expect(left).toBeLessThanOrEqual(24 * 3_600_000);
  });

  test('make one document of many requests at once', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        postText(api, { content: 'many' }, { key, as: 'many', prefer: 'wait=1' }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 409]));
    for (const { status, headers } of answers) {
      if (status === 409) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    expect(await documentsOf(api, 'many')).toHaveLength(1);
  });

  test('are the same request for a file whatever the boundary and the order of the parts', async () => {
    const key = newKey();
    const asked = { key, as: 'filer' };
    const upload = { fields: { metadata: '{"a": 1}' } };
    const first = await postFile(api, upload, asked);
    expect(first.status).toBe(202);
    const second = await postFile(api, { ...upload, fileFirst: false }, asked);
    expect(second.body).toEqual(first.body);
    expect(isReplay(second)).toBe(true);
    expect(await documentsOf(api, 'filer')).toEqual([idOf(first)]);
    const record = await api.records.read(idOf(first));
    expect(await api.storedFiles()).toContain(record?.pending?.storageKey.split('/').pop());
  });

  test('a file that is sent again is not stored again', async () => {
    const key = newKey();
    await postFile(api, { bytes: 'kept' }, { key, as: 'store' });
    const before = (await api.storedFiles()).length;
    await postFile(api, { bytes: 'kept' }, { key, as: 'store' });
    await postFile(api, { bytes: 'other' }, { key, as: 'store' });
    expect((await api.storedFiles()).length).toBe(before);
  });
});

describe('the same key', () => {
  const mentions = (answer: ApiAnswer) => {
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      detail: [{ loc: ['header', 'Idempotency-Key'], type: 'value_error' }],
    });
  };

  test('and another body are a 422 that names the header', async () => {
    const key = newKey();
    await postText(api, { content: 'one' }, { key });
    mentions(await postText(api, { content: 'another' }, { key }));
    mentions(await postText(api, { content: 'one', metadata: {} }, { key }));
  });

  test('and another file, file name or field are a 422', async () => {
    const key = newKey();
    await postFile(api, { fields: { metadata: '{}' } }, { key });
    mentions(await postFile(api, { bytes: 'another', fields: { metadata: '{}' } }, { key }));
    mentions(await postFile(api, { filename: 'b.txt', fields: { metadata: '{}' } }, { key }));
    mentions(await postFile(api, { fields: { metadata: '{"b": 1}' } }, { key }));
    mentions(await postFile(api, {}, { key }));
  });

  test('on another route or with another query string is a 422', async () => {
    const key = newKey();
    await postText(api, { content: 'routed' }, { key });
    mentions(await postText(api, { content: 'routed' }, { key, path: '/ingest/text?x=1' }));
    mentions(await postFile(api, {}, { key }));
  });

  test('of another caller is another key', async () => {
    const key = newKey();
    const one = await postText(api, { content: 'mine' }, { key, as: 'one' });
    const two = await postText(api, { content: 'mine' }, { key, as: 'two' });
    const three = await postText(api, { content: 'yours' }, { key, as: 'one:three' });
    expect(two.status).toBe(202);
    expect(new Set([idOf(one), idOf(two), idOf(three)]).size).toBe(3);
  });

  test('can be used again after a request that was refused', async () => {
    const key = newKey();
    expect((await postText(api, { content: ' ' }, { key })).status).toBe(422);
    expect((await postText(api, '{', { key })).status).toBe(422);
    expect((await postText(api, { content: 'right' }, { key })).status).toBe(202);
    const filed = newKey();
    expect((await postFile(api, { fields: { metadata: '[]' } }, { key: filed })).status).toBe(400);
    expect((await postFile(api, { bytes: '\u0000\u0001\u0002', filename: 'x' }, { key: filed })).status).toBe(
      415,
    );
    expect((await postFile(api, { bytes: 'right' }, { key: filed })).status).toBe(202);
  });

  test('is answered 409 while the first request is under way, and 422 with another body', async () => {
    const key = newKey();
    const first = postText(api, { content: 'slow' }, { key, as: 'slow', prefer: 'wait=2' });
    await until(async () => (await documentsOf(api, 'slow')).length === 1);
    const second = await postText(api, { content: 'slow' }, { key, as: 'slow' });
    expect(second.status).toBe(409);
    expect(second.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    mentions(await postText(api, { content: 'fast' }, { key, as: 'slow' }));
    expect(isReplay(await first)).toBe(false);
    expect((await postText(api, { content: 'slow' }, { key, as: 'slow' })).body).toEqual((await first).body);
  });
});
