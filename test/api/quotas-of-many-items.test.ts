import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readOwned } from '../../src/shared/documents/counts.js';
import type { ObjectStorage } from '../../src/shared/ports.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, type User } from '../support/document-client.js';
import { until } from '../support/until.js';

let api: DocumentApi;
afterEach(() => api.close());

const LEFT = 100_000;
const outcomes = z.array(
  z.object({ document_id: z.string().optional(), error: z.object({ type: z.string() }).optional() }),
);

/** A storage that notes what it has, with what it does not have whole yet, and the most bytes that that ever was. */
function measuredStorage() {
  const seen = { most: 0, all: 0 };
  const sizes = new Map<string, number>();
  const note = (key: string, size: number) => {
    seen.all += size - (sizes.get(key) ?? 0);
    seen.most = Math.max(seen.most, seen.all);
    sizes.set(key, size);
  };
  const wrapStorage = (storage: ObjectStorage): ObjectStorage => ({
    ...storage,
    put: async (key, bytes) => {
      const counted = async function* () {
        for await (const part of bytes) {
          note(key, (sizes.get(key) ?? 0) + part.length);
          yield part;
        }
      };
      try {
        await storage.put(key, counted());
      } catch (error) {
        note(key, 0);
        throw error;
      }
    },
    remove: async (key) => {
      await storage.remove(key);
      note(key, 0);
    },
  });
  return { seen, wrapStorage };
}

/** Sends a form whose files come one after the other, each when the one before is stored; the last ones come together. */
async function sendForm(user: User, files: readonly string[], stored: (count: number) => Promise<void>) {
  const headers = {
    Authorization: `Bearer ${user.token}`,
    'Content-Type': 'multipart/form-data; boundary=b',
    Prefer: 'respond-async',
  };
  const sent = request(`${api.url}/ingest/files`, { method: 'POST', headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
  });
  sent.write('--b');
  for (const [i, content] of files.entries()) {
    const head = `Content-Disposition: form-data; name="files"; filename="${String(i)}.txt"`;
    sent.write(`\r\n${head}\r\n\r\n${content}\r\n--b`);
    await stored(i + 1);
  }
  sent.end('--\r\n');
  return outcomes.parse(JSON.parse(await text(await answered)));
}

test('of the files of a form no more is stored than is left for all of them', async () => {
  const { seen, wrapStorage } = measuredStorage();
  api = await startDocumentApi({ quotas: { bytes: LEFT }, wrapStorage });
  const alice = createUser(api, 'alice');
  const files = Array.from({ length: 5 }, () => 'x'.repeat(40_000));
  const answered = await sendForm(alice, files, (count) =>
    until(async () => (await api.storedFiles()).length === Math.min(count, 2)),
  );
  expect(answered.map(({ error }) => error?.type ?? 'stored')).toEqual([
    'stored',
    'stored',
    ...Array.from({ length: 3 }, () => 'value_error.over_quota'),
  ]);
  expect(seen).toEqual({ all: 80_000, most: expect.any(Number) });
  expect(seen.most).toBeLessThanOrEqual(LEFT);
  expect(await readOwned(api.redis, 'alice')).toMatchObject({ documents: 2, bytes: 80_000 });
  // The bytes that the form held are free again.
  await alice.send('DELETE', `/documents/${answered[0]?.document_id ?? ''}`);
  expect((await alice.upload('x'.repeat(60_000), 'again.txt')).status).toBe(202);
});

test('of the texts of a batch no more is stored than is left for all of them', async () => {
  const { seen, wrapStorage } = measuredStorage();
  api = await startDocumentApi({ quotas: { bytes: LEFT }, wrapStorage });
  const alice = createUser(api, 'alice');
  const documents = Array.from({ length: 6 }, () => ({ content: 'y'.repeat(30_000) }));
  for (const taken of [3, 0]) {
    const answer = await alice.send('POST', '/ingest/batch', { documents }, { Prefer: 'respond-async' });
    const errors = outcomes.parse(answer.body).flatMap(({ error }) => error ?? []);
    expect(errors).toHaveLength(6 - taken);
    for (const { type } of errors) expect(type).toBe('value_error.over_quota');
  }
  expect(seen).toEqual({ all: 90_000, most: 90_000 });
  expect(await readOwned(api.redis, 'alice')).toMatchObject({ documents: 3, bytes: 90_000 });
});
