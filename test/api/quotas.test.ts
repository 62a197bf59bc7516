import { request } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readOwned, type Quotas } from '../../src/shared/documents/counts.js';
import type { ObjectStorage } from '../../src/shared/ports.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, type User } from '../support/document-client.js';
import { playFailure, playIngest } from '../support/play-worker.js';

let api: DocumentApi;
afterEach(() => api.close());

async function start(
  quotas: Partial<Quotas>,
  options: Parameters<typeof startDocumentApi>[0] = {},
): Promise<{ alice: User; bob: User }> {
  api = await startDocumentApi({ quotas, ...options });
  return { alice: createUser(api, 'alice'), bob: createUser(api, 'bob') };
}

const ingest = (user: User, content: string) =>
  user.send('POST', '/ingest/text', { content }, { Prefer: 'respond-async' });
const put = (user: User, id: string, content: string) =>
  user.send('PUT', `/documents/${id}/content`, { content }, { Prefer: 'respond-async' });
const owned = (user: User) => readOwned(api.redis, user.name);
const outcomes = z.array(z.object({ error: z.object({ type: z.string(), msg: z.string() }).optional() }));

describe('a quota of documents', () => {
  test('is exact: of fifty texts at once ten are taken, and the others are told which quota is reached', async () => {
    const { alice, bob } = await start({ documents: 10 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => ingest(alice, `text ${String(i)}`)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 507);
    expect(refused).toHaveLength(40);
    for (const { body, headers } of refused) {
      expect(body).toEqual({ detail: 'The quota of documents is reached: 10' });
      // Nothing that a client should do again by itself.
      expect(headers.get('Retry-After')).toBeNull();
    }
    expect(await owned(alice)).toMatchObject({ documents: 10 });
    expect((await ingest(bob, 'a text of another')).status).toBe(202);
  });

  test('holds for files as well, of which nothing stays that was refused', async () => {
    const { alice } = await start({ documents: 3 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => alice.upload(`# file ${String(i)}`, 'a.md')),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 507)).toHaveLength(9);
    expect(await api.storedFiles()).toHaveLength(3);
  });

  test('refuses each item of a batch by itself', async () => {
    const { alice } = await start({ documents: 3 });
    const documents = Array.from({ length: 5 }, (_, i) => ({ content: `text ${String(i)}` }));
    const answer = await alice.send('POST', '/ingest/batch', { documents }, { Prefer: 'respond-async' });
    const errors = outcomes.parse(answer.body).flatMap(({ error }) => error ?? []);
    expect(errors).toEqual(
      Array(2).fill({ type: 'value_error.over_quota', msg: 'The quota of documents is reached: 3' }),
    );
    expect(await owned(alice)).toMatchObject({ documents: 3 });
  });

  test('counts documents that failed or were cancelled, so that only a deletion makes room', async () => {
    const { alice } = await start({ documents: 2 });
    const failed = await alice.ingest('one');
    await playFailure(api, failed, 'corrupt');
    const cancelled = await alice.ingest('two');
    await alice.send('POST', `/documents/${cancelled}/cancel`);
    expect((await ingest(alice, 'three')).status).toBe(507);
    // Trying again makes no document.
    const retry = `/documents/${failed}/retry`;
    expect((await alice.send('POST', retry, undefined, { Prefer: 'respond-async' })).status).toBe(202);
    expect(await owned(alice)).toMatchObject({ documents: 2 });
    await alice.send('DELETE', `/documents/${cancelled}`);
    const third = await alice.ingest('three');
    for (const id of [failed, third]) await alice.send('DELETE', `/documents/${id}`);
    expect(await owned(alice)).toEqual({ documents: 0, bytes: 0, chunks: 0 });
    expect(await api.redis.exists('quire:owned:alice')).toBe(0);
  });

  test('refuses no change of what is there already', async () => {
    const { alice } = await start({ documents: 1 });
    const id = await alice.ingestCompleted(['one']);
    expect((await put(alice, id, 'another text, which is longer')).status).toBe(202);
    const patched = await alice.send(
      'PATCH',
      `/documents/${id}`,
      { metadata: { a: 1 } },
      { Prefer: 'respond-async' },
    );
    expect(patched.status).toBe(202);
    expect(await owned(alice)).toMatchObject({ documents: 1 });
  });
});

describe('a quota of bytes', () => {
  test('counts the difference that new content makes, and that once', async () => {
    const { alice } = await start({ bytes: 100 });
    const id = await alice.ingestCompleted(['x'.repeat(60)]);
    expect(await owned(alice)).toMatchObject({ bytes: 60 });
    const refused = await put(alice, id, 'y'.repeat(101));
    expect([refused.status, refused.body]).toEqual([507, { detail: 'The quota of bytes is reached: 100' }]);
    expect((await put(alice, id, 'y'.repeat(100))).status).toBe(202);
    expect(await owned(alice)).toMatchObject({ bytes: 100 });
    await playIngest(api, id, ['y'.repeat(100)]);
    expect(await owned(alice)).toMatchObject({ documents: 1, bytes: 100 });
    expect((await put(alice, id, 'z'.repeat(10))).status).toBe(202);
    // Until the shorter one can be found, the longer one is kept.
    expect(await owned(alice)).toMatchObject({ bytes: 100 });
    await playIngest(api, id, ['z'.repeat(10)]);
    expect(await owned(alice)).toMatchObject({ documents: 1, bytes: 10, chunks: 1 });
    expect((await ingest(alice, 'w'.repeat(91))).status).toBe(507);
    expect((await ingest(alice, 'w'.repeat(90))).status).toBe(202);
  });

  test('counts what is kept of an ingest that failed, until that is deleted', async () => {
    const { alice } = await start({ bytes: 100 });
    const id = await alice.ingest('x'.repeat(80));
    await playFailure(api, id, 'corrupt');
    expect(await owned(alice)).toEqual({ documents: 1, bytes: 80, chunks: 0 });
    await alice.send('DELETE', `/documents/${id}`);
    expect(await owned(alice)).toMatchObject({ bytes: 0 });
  });

  test('counts for the owner, whoever writes', async () => {
    const { alice, bob } = await start({ bytes: 100 });
    const id = await alice.ingest('x', { access_control: { writers: ['bob'] } });
    await playIngest(api, id, ['x']);
    expect((await put(bob, id, 'y'.repeat(90))).status).toBe(202);
    expect(await owned(alice)).toMatchObject({ bytes: 90 });
    expect(await owned(bob)).toMatchObject({ documents: 0, bytes: 0 });
  });
});

/** A storage that notes how many bytes it was given, in all and at most of uploads that it did not have whole yet. */
function watchedStorage() {
  const seen = { all: 0, most: 0 };
  let arriving = 0;
  const wrapStorage = (storage: ObjectStorage): ObjectStorage => ({
    ...storage,
    put: async (key, bytes) => {
      let own = 0;
      const counted = async function* () {
        for await (const part of bytes) {
          own += part.length;
          seen.all += part.length;
          arriving += part.length;
          seen.most = Math.max(seen.most, arriving);
          yield part;
        }
      };
      try {
        await storage.put(key, counted());
      } finally {
        arriving -= own;
      }
    },
  });
  return { seen, wrapStorage };
}

describe('a quota of bytes, while content arrives', () => {
  const LEFT = 100_000;
  const large = 'x'.repeat(900_000);

  test('stores no more of a file, a new one or one in place of another, than is left', async () => {
    const { seen, wrapStorage } = watchedStorage();
    const { alice, bob } = await start({ bytes: LEFT }, { wrapStorage });
    const refused = { status: 507, body: { detail: `The quota of bytes is reached: ${String(LEFT)}` } };
    expect(await alice.upload(large, 'a.txt')).toMatchObject(refused);
    expect(seen.all).toBeLessThanOrEqual(LEFT);
    const id = await alice.ingest('x', { access_control: { writers: ['bob'] } });
    seen.all = 0;
    for (const user of [alice, bob])
      expect(await user.upload(large, 'a.txt', `/documents/${id}/content`)).toMatchObject(refused);
    expect((await put(alice, id, large)).status).toBe(507);
    expect((await ingest(alice, large)).status).toBe(507);
    expect(seen.all).toBeLessThanOrEqual(2 * LEFT);
    expect(await api.storedFiles()).toEqual([]);
    // Stored bytes may be replaced by as many, however little is left.
    expect((await alice.upload('y'.repeat(LEFT), 'a.txt', `/documents/${id}/content`)).status).toBe(202);
    await playIngest(api, id, ['y']);
    expect((await alice.upload('z'.repeat(LEFT), 'a.txt', `/documents/${id}/content`)).status).toBe(202);
  });

  test('refuses a body that says that it has more than is left without reading it', async () => {
    const { alice } = await start({ bytes: LEFT }, { maxFileBytes: 1e9 });
    const headers = {
      'Content-Type': 'multipart/form-data; boundary=x',
      'Content-Length': '100000000',
      Authorization: `Bearer ${alice.token}`,
    };
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${api.url}/ingest/file`, { method: 'POST', headers });
      sent.on('response', ({ statusCode }) => {
        resolve(statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    expect(status).toBe(507);
  });

  test('stores no more than is left of many uploads of an owner at once, and takes one that fits', async () => {
    const { seen, wrapStorage } = watchedStorage();
    const { alice } = await start({ bytes: LEFT }, { wrapStorage });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => alice.upload('x'.repeat(90_000), `${String(n)}.txt`)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    for (const { status, headers } of answers)
      // Uploads that might fit once others have been refused are told to try again.
      if (status !== 202)
        expect([status, headers.has('Retry-After')]).toEqual([status === 429 ? 429 : 507, status === 429]);
    expect(seen.most).toBeLessThanOrEqual(LEFT);
    expect(await owned(alice)).toMatchObject({ bytes: 90_000 });
    expect(await api.storedFiles()).toHaveLength(1);
  });
});

describe('a quota of chunks', () => {
  test('that is reached lets no document be begun', async () => {
    const { alice } = await start({ chunks: 3 });
    const id = await alice.ingestCompleted(['one', 'two', 'three']);
    for (const answer of [await ingest(alice, 'four'), await alice.upload('# four', 'four.md')])
      expect([answer.status, answer.body]).toEqual([507, { detail: 'The quota of chunks is reached: 3' }]);
    // Fewer chunks are always welcome.
    expect((await put(alice, id, 'one alone')).status).toBe(202);
    await playIngest(api, id, ['one alone']);
    expect(await owned(alice)).toMatchObject({ chunks: 1 });
    expect(documentOf(await ingest(alice, 'two')).system_metadata.status).toBe('queued');
  });
});
