import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isShortSource, MAX_SHORT_BYTES } from '../../src/shared/storage/sources.js';
import { keys } from '../../src/shared/redis/keys.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, type User } from '../support/document-client.js';
import { keysUnder } from '../support/keys-under.js';
import { playFailure, playIngest } from '../support/play-worker.js';

let api: DocumentApi;
let user: User;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
  user = createUser(api, 'alice');
});
afterAll(async () => {
  await api.close();
});

const SHORT = 'ä'.repeat(MAX_SHORT_BYTES / 2);
const LONG = `${SHORT}.`;

const put = (id: string, content: string) => user.send('PUT', `/documents/${id}/content`, { content });
const download = async (id: string) => (await user.get(`/documents/${id}/download`)).text;
/** The sources that a record holds. */
const held = async (id: string) => (await api.redis.hKeys(keys.document(id))).filter(isShortSource);

test('a text of 8 KiB is kept in its record, and a longer one in a file', async () => {
  const short = await user.ingest(SHORT);
  expect(await api.storedFiles()).toEqual([]);
  expect(await api.redis.zCard(keys.draftObjects)).toBe(0);
  const long = await user.ingest(LONG);
  expect(await api.storedFiles()).toHaveLength(1);
  expect(await held(long)).toEqual([]);
  expect([await download(short), await download(long)]).toEqual([SHORT, LONG]);
});

test('a short source is replaced by a long one and back, and goes with what replaces it', async () => {
  const id = await user.ingestCompleted(['one']);
  const [first] = await held(id);
  await put(id, 'two');
  // Searches still answer from the first.
  expect(await held(id)).toHaveLength(2);
  expect(await download(id)).toBe('one');
  await playIngest(api, id, ['two']);
  expect(await held(id)).toHaveLength(1);
  expect(await held(id)).not.toContain(first);
  await put(id, LONG);
  await playIngest(api, id, [LONG]);
  expect(await held(id)).toEqual([]);
  expect(await download(id)).toBe(LONG);
  await put(id, 'three');
  await put(id, 'four');
  await playIngest(api, id, ['four']);
  expect(await held(id)).toHaveLength(1);
  expect(await download(id)).toBe('four');
  // The file of the long text waits for the sweep, the short ones do not.
  const unreferenced = await api.redis.zRange(keys.unreferencedObjects, 0, -1);
  expect(unreferenced.filter((key) => key.includes(id))).toHaveLength(1);
  expect(unreferenced.filter(isShortSource)).toEqual([]);
});

test('content that is refused or that is there already leaves no source', async () => {
  const id = await user.ingestCompleted(['same']);
  const before = await held(id);
  await put(id, 'same');
  expect(await held(id)).toEqual(before);
  expect(
    (await createUser(api, 'stranger').send('PUT', `/documents/${id}/content`, { content: 'x' })).status,
  ).toBe(403);
  expect(await held(id)).toEqual(before);
});

test('the source of a failed ingest is kept for its retry, and a deletion removes all of it', async () => {
  const id = await user.ingest('fails');
  await playFailure(api, id, 'too_large');
  expect(await download(id)).toBe('fails');
  expect(documentOf(await user.send('POST', `/documents/${id}/retry`)).system_metadata.status).toBe('queued');
  expect((await user.send('DELETE', `/documents/${id}`)).status).toBe(200);
  expect(await api.redis.exists(keys.document(id))).toBe(0);
  expect((await api.redis.zRange(keys.unreferencedObjects, 0, -1)).filter((key) => key.includes(id))).toEqual(
    [],
  );
});

test('equal texts at once leave one document with one source, and a repeated request adds none', async () => {
  const content = 'the same at once';
  const before = (await keysUnder(api.redis, keys.document(''))).length;
  const post = (headers: Record<string, string>) =>
    user.send('POST', '/ingest/text', { content, on_duplicate: 'return' }, headers);
  const repeated = { 'Idempotency-Key': 'short-source' };
  const answers = [
    ...(await Promise.all([{}, {}, {}, {}].map(post))),
    await post(repeated),
    await post(repeated),
  ];
  const [id = '', ...others] = new Set(answers.map((answer) => documentOf(answer).external_id));
  expect(others).toEqual([]);
  expect(await held(id)).toHaveLength(1);
  expect(await keysUnder(api.redis, keys.document(''))).toHaveLength(before + 1);
});

test('a text with an `Idempotency-Key` is created and answered again with its bytes', async () => {
  const headers = { 'Idempotency-Key': 'created-once', Prefer: 'respond-async' };
  const post = () => user.send('POST', '/ingest/text', { content: 'created once' }, headers);
  const [first, second] = [documentOf(await post()), documentOf(await post())];
  expect(second.external_id).toBe(first.external_id);
  expect(await held(first.external_id)).toHaveLength(1);
  expect(await download(first.external_id)).toBe('created once');
});
