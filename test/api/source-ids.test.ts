import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentView, type DocumentView } from '../../src/api/routes/document-view.js';
import { giveTo } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { jsonBody, makeToken, type ApiAnswer } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { newKey } from '../support/keyed-requests.js';
import { playFailure, playIngest } from '../support/play-worker.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0, quotas: { documents: 200 } });
});
afterAll(async () => {
  await api.close();
});

interface Fields {
  readonly content?: string;
  readonly source_id?: unknown;
  readonly metadata?: unknown;
  readonly filename?: string;
  readonly access_control?: unknown;
  readonly on_duplicate?: string;
}

interface As {
  readonly as: string;
  readonly key?: string;
}

type Send = (content: string, fields: Fields, as: As) => Promise<ApiAnswer>;

const headersOf = ({ key }: As) => ({
  Prefer: 'wait=0',
  ...(key !== undefined && { 'Idempotency-Key': key }),
});

const postJson = (path: string, body: unknown, asked: As, type = 'application/json'): Promise<ApiAnswer> =>
  api.request(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'Content-Type': type, ...headersOf(asked) },
    token: makeToken({ entity_id: asked.as }),
  });

const fieldText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

async function postForm(
  path: string,
  files: readonly string[],
  { fields, asked }: { fields: Fields; asked: As },
) {
  const { filename = 'a.txt', content: _content, ...others } = fields;
  const form = new FormData();
  const part = path === '/ingest/files' ? 'files' : 'file';
  for (const content of files) form.append(part, new Blob([content], { type: 'text/plain' }), filename);
  for (const [name, value] of Object.entries(others)) form.append(name, fieldText(value));
  const token = makeToken({ entity_id: asked.as });
  return api.request(path, { method: 'POST', body: form, headers: headersOf(asked), token });
}

const postText: Send = (content, fields, asked) => postJson('/ingest/text', { content, ...fields }, asked);
const postFile: Send = (content, fields, asked) => postForm('/ingest/file', [content], { fields, asked });

/** The document of the only item of an answer for many. */
async function ofItem(answer: ApiAnswer, { as }: As): Promise<ApiAnswer> {
  const [line = ''] = answer.text.split('\n');
  const parsed = JSON.parse(answer.headers.get('content-type')?.includes('ndjson') ? line : answer.text) as
    { document_id?: string } | { document_id?: string }[];
  const { document_id: id } = Array.isArray(parsed) ? (parsed[0] ?? {}) : parsed;
  if (id === undefined) throw new Error(answer.text);
  return api.request(`/documents/${id}`, { token: makeToken({ entity_id: as }) });
}

const postFiles: Send = async (content, fields, asked) =>
  ofItem(await postForm('/ingest/files', [content], { fields, asked }), asked);
const postBatch: Send = async (content, fields, asked) =>
  ofItem(await postJson('/ingest/batch', { documents: [{ content, ...fields }] }, asked), asked);
const postLines: Send = async (content, fields, asked) =>
  ofItem(
    await postJson(
      '/ingest/batch',
      `${JSON.stringify({ content, ...fields })}\n`,
      asked,
      'application/x-ndjson',
    ),
    asked,
  );

const viewOf = (answer: ApiAnswer): DocumentView => {
  if (answer.status >= 400) throw new Error(answer.text);
  return documentView.parse(answer.body);
};
const idOf = (answer: ApiAnswer) => viewOf(answer).external_id;
const finish = (answer: ApiAnswer) => playIngest(api, idOf(answer), ['a text']);
const countOf = (owner: string) => api.redis.zCard(keys.contentHashes(owner));
const long = (text: string) => `${text} `.repeat(3_000);

describe.each([
  ['text', postText],
  ['file', postFile],
  ['file of a form with many', postFiles],
  ['item of a batch', postBatch],
  ['line of a stream', postLines],
] as const)('a %s with a source_id', (kind, send) => {
  const source_id = `/home/ann/${kind}.txt`;

  test('is shown with it, and replaces the content of the document that has it', async () => {
    const asked = { as: `${kind}-replaces` };
    const first = viewOf(await send('one', { source_id }, asked));
    expect(first.source_id).toBe(source_id);
    await playIngest(api, first.external_id, ['one']);
    const again = viewOf(await send('two', { source_id }, asked));
    expect(again.external_id).toBe(first.external_id);
    // The old content answers until the new one is ready.
    expect(again.system_metadata).toMatchObject({ version: 2, published_version: 1, status: 'queued' });
    await playIngest(api, first.external_id, ['two']);
    const record = await api.records.read(first.external_id);
    expect(record?.published?.version).toBe(2);
    expect(await countOf(asked.as)).toBe(1);
  });

  test('changes nothing where the content is the same', async () => {
    const asked = { as: `${kind}-same` };
    const first = await send('same', { source_id, metadata: { a: 1 } }, asked);
    await finish(first);
    const before = await api.records.read(idOf(first));
    const files = (await api.storedFiles()).length;
    const again = viewOf(await send('same', { source_id }, asked));
    expect(again.system_metadata).toMatchObject({ version: 1, status: 'completed' });
    expect(await api.records.read(idOf(first))).toEqual(before);
    expect((await api.storedFiles()).length).toBe(files);
  });

  test('of a long content keeps the bytes under the document', async () => {
    const asked = { as: `${kind}-long` };
    const first = await send(long('one'), { source_id }, asked);
    await finish(first);
    await finish(await send(long('two'), { source_id }, asked));
    const record = await api.records.read(idOf(first));
    expect(record?.published?.storageKey).toContain(idOf(first));
    const token = makeToken({ entity_id: asked.as });
    const { text } = await api.request(`/documents/${idOf(first)}/download`, { token });
    expect(text).toBe(long('two'));
    // Only what the record refers to is no draft any more.
    expect(await api.redis.zScore(keys.draftObjects, record?.published?.storageKey ?? '')).toBeNull();
  });

  test('changes what is stated, and leaves the rest', async () => {
    const asked = { as: `${kind}-stated` };
    const access_control = { readers: ['bob'] };
    const first = await send('same', { source_id, metadata: { a: 1 }, access_control }, asked);
    await finish(first);
    await send('same', { source_id, metadata: { b: 2 } }, asked);
    expect(await api.records.read(idOf(first))).toMatchObject({
      metadata: { b: 2 },
      readers: [asked.as, 'bob'],
      version: 1,
      published: { filename: kind.includes('file') ? 'a.txt' : null },
    });
    await send('same', { source_id, access_control: { readers: ['carol'] }, filename: 'b.txt' }, asked);
    expect(await api.records.read(idOf(first))).toMatchObject({
      metadata: { b: 2 },
      readers: [asked.as, 'carol'],
      version: 1,
      published: { filename: 'b.txt' },
    });
    await send(
      'other',
      { source_id, metadata: {}, access_control: { readers: [] }, filename: 'b.txt' },
      asked,
    );
    expect(await api.records.read(idOf(first))).toMatchObject({
      metadata: {},
      readers: [asked.as],
      version: 2,
      pending: { filename: 'b.txt' },
    });
  });

  test('is tried again where its ingest failed', async () => {
    const asked = { as: `${kind}-failed` };
    const first = await send('same', { source_id }, asked);
    await playFailure(api, idOf(first), 'internal');
    const again = viewOf(await send('same', { source_id }, asked));
    expect(again.external_id).toBe(idOf(first));
    expect(again.system_metadata).toMatchObject({ version: 2, status: 'queued' });
  });

  test('is a new document once the old one is deleted, and another for each owner', async () => {
    const asked = { as: `${kind}-deleted` };
    const first = await send('one', { source_id }, asked);
    const others = await send('one', { source_id }, { as: `${kind}-other` });
    expect(idOf(others)).not.toBe(idOf(first));
    const token = makeToken({ entity_id: asked.as });
    await api.request(`/documents/${idOf(first)}`, { method: 'DELETE', token });
    expect(await api.redis.exists(keys.sourceIds(asked.as))).toBe(0);
    const again = viewOf(await send('one', { source_id }, asked));
    expect(again.external_id).not.toBe(idOf(first));
    expect(again.system_metadata.version).toBe(1);
  });

  test('is one document, with one of the contents, where twenty come at once', async () => {
    const asked = { as: `${kind}-race` };
    const contents = Array.from({ length: 20 }, (_, i) => long(`content ${String(i)}`));
    const answers = await Promise.all(contents.map((content) => send(content, { source_id }, asked)));
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect(await countOf(asked.as)).toBe(1);
    const record = await api.records.read(idOf(answers[0] ?? (await send('', {}, asked))));
    expect(record?.version).toBe(20);
    const key = record?.pending?.storageKey.split('/')[1] ?? '';
    expect(await api.storedFiles()).toContain(key);
  });

  test('is a 422 where it is empty, too long, or half a character', async () => {
    const as = `${kind}-wrong`;
    const wrong = [['', '\u{1f600}'.repeat(1_025)], kind.startsWith('file') ? [] : ['\ud800', 7, {}]].flat();
    for (const value of wrong) {
      const answer = await send('text', { source_id: value }, { as }).catch((error: unknown) => error);
      const text = answer instanceof Error ? answer.message : (answer as ApiAnswer).text;
      expect(text).toContain('source_id');
    }
    const longest = '\u{1f600}'.repeat(1_024);
    expect(viewOf(await send('text', { source_id: longest }, { as })).source_id).toBe(longest);
  });
});

describe('the content of a source that is there', () => {
  test('has no duplicates, since the source has a place of its own', async () => {
    const asked = { as: 'duplicates' };
    const other = await postText('same', {}, asked);
    const first = await postText('one', { source_id: 'a' }, asked);
    const again = viewOf(await postText('same', { source_id: 'a', on_duplicate: 'reject' }, asked));
    expect(again.external_id).toBe(idOf(first));
    expect(again.system_metadata.version).toBe(2);
    // A new source heeds the rule.
    const returned = viewOf(await postText('one more', { source_id: 'b', on_duplicate: 'return' }, asked));
    expect(returned.source_id).toBe('b');
    const known = viewOf(await postText('same', { source_id: 'c', on_duplicate: 'return' }, asked));
    expect([idOf(other), idOf(first)]).toContain(known.external_id);
    expect(known.source_id).not.toBe('c');
  });

  test('is answered again for the same key, and changes nothing twice', async () => {
    const asked = { as: 'keyed', key: newKey() };
    const first = await postText('one', { source_id: 'a' }, { as: 'keyed' });
    await finish(first);
    const changed = await postText('two', { source_id: 'a' }, asked);
    const again = await postText('two', { source_id: 'a' }, asked);
    expect(viewOf(again)).toEqual(viewOf(changed));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    // Where the answer was lost before it was remembered, the request is handled once more.
    await api.redis.del(keys.idempotency('keyed', asked.key));
    expect(viewOf(await postText('two', { source_id: 'a' }, asked)).system_metadata.version).toBe(2);
  });

  test('is the last one of several in a batch', async () => {
    const asked = { as: 'batch' };
    const documents = ['one', 'two', 'three'].map((content) => ({ content, source_id: 'a' }));
    const items = JSON.parse((await postJson('/ingest/batch', { documents }, asked)).text) as {
      document_id: string;
    }[];
    const ids = new Set(items.map(({ document_id: id }) => id));
    expect(ids.size).toBe(1);
    const [id = ''] = ids;
    const record = await api.records.read(id);
    expect(record?.version).toBe(3);
    expect(await api.redis.hGet(keys.document(id), record?.pending?.storageKey ?? '')).toBe('three');
  });

  test('of many files is named for each of them', async () => {
    const asked = { as: 'files' };
    const send = (source_id: unknown) =>
      postForm('/ingest/files', ['one', 'two'], { fields: { source_id }, asked });
    for (const wrong of ['a', ['a'], ['a', 7]]) expect((await send(wrong)).text).toContain('source_id');
    const named = JSON.parse((await send(['a', null])).text) as { document_id: string }[];
    const records = await Promise.all(named.map(({ document_id: id }) => api.records.read(id)));
    expect(records.map((record) => record?.sourceId ?? null)).toEqual(['a', null]);
  });

  test('is not replaced by an owner who may not write any more', async () => {
    const asked = { as: 'closed' };
    const first = await postText('one', { source_id: 'a', access_control: { admins: ['bob'] } }, asked);
    const token = makeToken({ entity_id: 'bob' });
    const lists = { access_control: { readers: ['bob'], writers: ['bob'], admins: ['bob'] } };
    await api.request(`/documents/${idOf(first)}`, { ...jsonBody(lists, 'PATCH'), token });
    expect((await postText('two', { source_id: 'a' }, asked)).status).toBe(403);
    expect((await api.records.read(idOf(first)))?.version).toBe(1);
  });

  test('is new where the record went without its entry, by a process of an earlier version', async () => {
    const asked = { as: 'earlier' };
    const first = await postText('one', { source_id: 'a' }, asked);
    await api.redis.del(keys.document(idOf(first)));
    const again = viewOf(await postText('two', { source_id: 'a' }, asked));
    expect(again.external_id).not.toBe(idOf(first));
    expect(await api.redis.hGet(keys.sourceIds('earlier'), 'a')).toBe(again.external_id);
  });

  test('goes with a document that is given, unless the other has one of this source', async () => {
    const given = await postText('one', { source_id: 'a' }, { as: 'giver' });
    const stays = await postText('one', { source_id: 'b' }, { as: 'giver' });
    await postText('one', { source_id: 'b' }, { as: 'taker' });
    for (const answer of [given, stays]) await finish(answer);
    await api.records.update(idOf(given), (record) => giveTo(record, 'taker'));
    const giving = api.records.update(idOf(stays), (record) => giveTo(record, 'taker'));
    await expect(giving).rejects.toThrow('source_id');
    expect(await api.redis.hGetAll(keys.sourceIds('giver'))).toEqual({ b: idOf(stays) });
    expect(idOf(await postText('two', { source_id: 'a' }, { as: 'taker' }))).toBe(idOf(given));
    expect(idOf(await postText('two', { source_id: 'a' }, { as: 'giver' }))).not.toBe(idOf(given));
  });
});
