import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentView } from '../../src/api/routes/document-view.js';
import { makeToken, type ApiAnswer } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { playIngest } from '../support/play-worker.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
});
afterAll(async () => {
  await api.close();
});

const token = makeToken();
const CHUNKING = { size: 100, overlap: 10, splitter: 'markdown' };

const sendJson = (path: string, body: unknown, method = 'POST') =>
  api.request(path, {
    method,
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', Prefer: 'wait=0' },
    token,
  });

function sendForm(
  path: string,
  fields: Readonly<Record<string, unknown>>,
  { part = 'file', method = 'POST', count = 1 } = {},
) {
  const form = new FormData();
  for (let i = 0; i < count; i += 1)
    form.append(part, new Blob(['# A text'], { type: 'text/markdown' }), 'a.md');
  for (const [name, value] of Object.entries(fields))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  return api.request(path, { method, body: form, headers: { Prefer: 'wait=0' }, token });
}

const idOf = ({ text }: ApiAnswer) => documentView.parse(JSON.parse(text)).external_id;
const ids = ({ text }: ApiAnswer) =>
  (JSON.parse(text) as { document_id: string }[]).map((each) => each.document_id);
const recordOf = async (id: string) => api.records.read(id);

test('is kept with the content by every way in, and shown', async () => {
  const text = await sendJson('/ingest/text', { content: 'a', chunking: CHUNKING });
  expect(documentView.parse(text.body).system_metadata.chunking).toEqual(CHUNKING);
  const documents = [{ content: 'b', chunking: CHUNKING }, { content: 'c' }];
  const batch = ids(await sendJson('/ingest/batch', { documents }));
  const file = idOf(await sendForm('/ingest/file', { chunking: CHUNKING }));
  const files = ids(
    await sendForm('/ingest/files', { chunking: [CHUNKING, { size: 16 }] }, { part: 'files', count: 2 }),
  );
  const stated = await Promise.all(
    [idOf(text), ...batch, file, ...files].map(async (id) => (await recordOf(id))?.pending?.chunking ?? null),
  );
  expect(stated).toEqual([CHUNKING, CHUNKING, null, CHUNKING, CHUNKING, { size: 16 }]);
});

test.each([
  [
    'text',
    (id: string, chunking: unknown) =>
      sendJson(`/documents/${id}/content`, { content: 'a', chunking }, 'PUT'),
  ],
  [
    'file',
    (id: string, chunking: unknown) =>
      sendForm(`/documents/${id}/content`, chunking === undefined ? {} : { chunking }, { method: 'PUT' }),
  ],
] as const)(
  'stays with new content of a %s, and another one makes the same content new',
  async (kind, put) => {
    const made =
      kind === 'text'
        ? await sendJson('/ingest/text', { content: 'a', chunking: CHUNKING })
        : await sendForm('/ingest/file', { chunking: CHUNKING });
    const id = idOf(made);
    await playIngest(api, id, ['a']);
    for (const [chunking, version, expected] of [
      [undefined, 1, CHUNKING],
      [CHUNKING, 1, CHUNKING],
      [{ size: 50 }, 2, { size: 50 }],
      [{}, 3, {}],
    ] as const) {
      await put(id, chunking);
      const record = await recordOf(id);
      expect({ chunking, version: record?.version }).toEqual({ chunking, version });
      expect((record?.pending ?? record?.published)?.chunking).toEqual(expected);
      if (record?.pending) await playIngest(api, id, ['a']);
    }
  },
);

test('goes with a source: it stays where none is stated, and another one makes the same content new', async () => {
  const send = (more: Record<string, unknown>) =>
    sendJson('/ingest/text', { content: 'a', source_id: 'a.md', ...more });
  const id = idOf(await send({ chunking: CHUNKING }));
  await playIngest(api, id, ['a']);
  await send({});
  expect(await recordOf(id)).toMatchObject({ version: 1, published: { chunking: CHUNKING } });
  await send({ chunking: { ...CHUNKING, size: 99 } });
  expect(await recordOf(id)).toMatchObject({ version: 2, pending: { chunking: { size: 99 } } });
});

test('tells of parts that it does not know', async () => {
  const answer = await sendJson('/ingest/text', { content: 'a', chunking: { size: 100, overlp: 10 } });
  expect(answer.headers.get('quire-ignored')).toBe('chunking.overlp');
});

describe('is a 422 that names the field', () => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [{ size: 15 }, 'size'],
    [{ size: 4_097 }, 'size'],
    [{ size: '100' }, 'size'],
    [{ size: 100, overlap: 51 }, 'overlap'],
    [{ size: 4_096, overlap: 4_095 }, 'overlap'],
    [{ size: 100, overlap: -1 }, 'overlap'],
    [{ overlap: 10 }, 'overlap'],
    [{ splitter: 'sentences' }, 'splitter'],
  ];
  test.each(wrong)('%j', async (chunking, field) => {
    const id = idOf(await sendJson('/ingest/text', { content: 'a' }));
    const answers = await Promise.all([
      sendJson('/ingest/text', { content: 'a', chunking }),
      sendForm('/ingest/file', { chunking }),
      sendJson(`/documents/${id}/content`, { content: 'a', chunking }, 'PUT'),
      sendForm(`/documents/${id}/content`, { chunking }, { method: 'PUT' }),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(422);
      expect(body).toMatchObject({ detail: [{ loc: ['body', 'chunking', field] }] });
    }
    for (const answer of [
      await sendJson('/ingest/batch', { documents: [{ content: 'a', chunking }] }),
      await sendForm('/ingest/files', { chunking }, { part: 'files' }),
    ])
      expect(answer.text).toContain(field);
  });

  test('what is no object', async () => {
    expect((await sendJson('/ingest/text', { content: 'a', chunking: 'markdown' })).status).toBe(422);
    expect((await sendForm('/ingest/file', { chunking: '[1]' })).status).toBe(400);
    expect((await sendForm('/ingest/file', { chunking: `{"size": 100${' '.repeat(2_000)}}` })).status).toBe(
      422,
    );
  });
});
