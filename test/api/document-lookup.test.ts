import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { documentView } from '../../src/api/routes/document-view.js';
import { keys } from '../../src/shared/redis/keys.js';
import { jsonBody, makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { playFailure, playIngest } from '../support/play-worker.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
});
afterAll(async () => {
  await api.close();
});

const sha = (text: string) => hash('sha256', text, 'hex');
const tokenOf = (name: string) => makeToken({ entity_id: name });

async function ingest(as: string, content: string, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await api.request('/ingest/text', {
    ...jsonBody({ content, ...fields }),
    token: tokenOf(as),
  });
  return documentView.parse(answer.body).external_id;
}

const ask = (as: string, body: unknown) =>
  api.request('/documents/lookup', { ...jsonBody(body), token: tokenOf(as) });

const answerSchema = z.object({
  documents: z.array(z.record(z.string(), z.unknown())),
  missing: z.array(z.string()),
});

async function lookUp(as: string, body: unknown) {
  const answer = await ask(as, body);
  expect(answer.status).toBe(200);
  return answerSchema.parse(answer.body);
}

test('tells of which sources and contents there are documents, in their order, and names the others', async () => {
  const [one, two] = [await ingest('ann', 'one', { source_id: 'a' }), await ingest('ann', 'two')];
  await playIngest(api, one, ['one']);
  await ingest('ann', 'one more', { source_id: 'a' });
  const ofSource = {
    document_id: one,
    source_id: 'a',
    sha256: sha('one more'),
    version: 2,
    status: 'queued',
  };
  expect(await lookUp('ann', { source_ids: ['x', 'a', 'x', 'a'] })).toEqual({
    documents: [ofSource],
    missing: ['x'],
  });
  // The newest content is the one that counts, published or not.
  const wanted = { sha256: [sha('two'), sha('one'), sha('one more')] };
  expect(await lookUp('ann', wanted)).toEqual({
    documents: [
      { document_id: two, source_id: null, sha256: sha('two'), version: 1, status: 'queued' },
      ofSource,
    ],
    missing: [sha('one')],
  });
  expect(await lookUp('ann', { sha256: [] })).toEqual({ documents: [], missing: [] });
});

test('tells nobody of documents of others, even shared ones, nor an owner of what they may not read', async () => {
  const mine = { readers: ['eve'], writers: ['eve'], admins: ['eve'] };
  const id = await ingest('dan', 'of dan', { source_id: 'a', access_control: mine });
  for (const body of [{ source_ids: ['a'] }, { sha256: [sha('of dan')] }]) {
    expect((await lookUp('dan', body)).documents).toHaveLength(1);
    expect((await lookUp('eve', body)).documents).toEqual([]);
  }
  const patch = jsonBody({ access_control: mine }, 'PATCH');
  await api.request(`/documents/${id}`, { ...patch, token: tokenOf('eve') });
  for (const body of [{ source_ids: ['a'] }, { sha256: [sha('of dan')] }])
    expect((await lookUp('dan', body)).documents).toEqual([]);
});

test('tells that an ingest failed by its source, and not by its content', async () => {
  await playFailure(api, await ingest('fay', 'broken', { source_id: 'a' }), 'corrupt');
  const { documents } = await lookUp('fay', { source_ids: ['a'] });
  expect(documents).toEqual([expect.objectContaining({ status: 'failed', sha256: sha('broken') })]);
  expect((await lookUp('fay', { sha256: [sha('broken')] })).missing).toHaveLength(1);
});

test('leaves out a document whose record went without its entries', async () => {
  const id = await ingest('gil', 'gone', { source_id: 'a' });
  await api.redis.del(keys.document(id));
  for (const body of [{ source_ids: ['a'] }, { sha256: [sha('gone')] }])
    expect((await lookUp('gil', body)).documents).toEqual([]);
});

test('takes a thousand values, and one of the two fields', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, i) => ingest('hal', `text ${String(i)}`, { source_id: `s${String(i)}` })),
  );
  const source_ids = Array.from({ length: 1_000 }, (_, i) => `s${String(i)}`);
  const { documents, missing } = await lookUp('hal', { source_ids });
  expect(documents.map(({ document_id: id }) => id)).toEqual(ids);
  expect(missing).toEqual(source_ids.slice(20));
  const wrong: [unknown, string][] = [
    [{ source_ids: [...source_ids, 'more'] }, 'source_ids'],
    [{ sha256: ['abc'] }, 'sha256'],
    [{ sha256: [sha('a').toUpperCase()] }, 'sha256'],
    [{ source_ids: [''] }, 'source_ids'],
    [{ source_ids: ['\ud800'] }, 'source_ids'],
    [{ source_ids: 'a' }, 'source_ids'],
    [{}, 'sha256'],
    [{ sha256: [], source_ids: [] }, 'source_ids'],
  ];
  for (const [body, field] of wrong) {
    const answer = await ask('hal', body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc: expect.arrayContaining([field]) }] });
  }
});
