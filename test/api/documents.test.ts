import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, idsOf } from '../support/document-client.js';
import { playFailure, playIngest } from '../support/play-worker.js';
import { turnsOf } from '../support/turns-here.js';

const run = promisify(execFile);
let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi();
});
afterAll(async () => {
  await api.close();
});

const query = (parameters: Record<string, string>) =>
  `/documents?${new URLSearchParams(parameters).toString()}`;

describe('GET /documents', () => {
  test('lists newest first, at once, whatever became of the document', async () => {
    const user = createUser(api, 'lister');
    const queued = await user.ingest('queued');
    const failed = await user.ingest('failed');
    await playFailure(api, failed, 'no_text');
    const completed = await user.ingestCompleted(['completed']);
    const answer = await user.get('/documents');
    expect(idsOf(answer)).toEqual([completed, failed, queued]);
    const [newest] = z.array(z.unknown()).parse(answer.body);
    expect(newest).toEqual((await user.get(`/documents/${completed}`)).body);
  });

  test('pages without repeating or skipping', async () => {
    const user = createUser(api, 'pager');
    const ids: string[] = [];
    for (let i = 0; i < 25; i += 1) ids.unshift(await user.ingest(`text ${String(i)}`));
    expect(idsOf(await user.get('/documents'))).toEqual(ids);
    expect(idsOf(await user.get('/documents?skip=10&limit=10'))).toEqual(ids.slice(10, 20));
    expect(idsOf(await user.get('/documents?skip=20&limit=10'))).toEqual(ids.slice(20));
    expect(idsOf(await user.get('/documents?skip=25'))).toEqual([]);
    expect(idsOf(await user.get('/documents?skip=999999999999'))).toEqual([]);
    const answer = await user.get('/documents?limit=100');
    expect(idsOf(answer)).toHaveLength(25);
  });

  test('lists only documents that the caller may read', async () => {
    const [owner, reader, writer, stranger] = ['o', 'r', 'w', 's'].map((name) =>
      createUser(api, `list-${name}`),
    );
    if (!owner || !reader || !writer || !stranger) throw new Error('unreachable');
    const own = await owner.ingest('own');
    const shared = await owner.ingest('shared', {
      access_control: { readers: [reader.name], writers: [writer.name] },
    });
    expect(idsOf(await owner.get('/documents'))).toEqual([shared, own]);
    expect(idsOf(await reader.get('/documents'))).toEqual([shared]);
    expect(idsOf(await writer.get('/documents'))).toEqual([shared]);
    expect(idsOf(await stranger.get('/documents'))).toEqual([]);
  });

  test('filters by metadata, as JSON or as Python writes it', async () => {
    const user = createUser(api, 'filterer');
    const one = await user.ingest('one', { metadata: { kind: 'a', n: 1 } });
    const two = await user.ingest('two', { metadata: { kind: 'a', n: 2 } });
    const three = await user.ingest('three', { metadata: { kind: 'b', n: 3, done: true } });
    const listed = async (filters: string) => idsOf(await user.get(query({ filters })));
    expect(await listed('{"kind": "a"}')).toEqual([two, one]);
    expect(await listed('{"kind": "a", "n": {"$lt": 2}}')).toEqual([one]);
    expect(await listed("{'done': True}")).toEqual([three]);
    expect(await listed('{"n": "1"}')).toEqual([]);
    for (const none of ['', 'null', 'None', '{}']) expect(await listed(none)).toEqual([three, two, one]);
    expect(idsOf(await user.get(query({ filters: '{"kind": "a"}', skip: '1', limit: '1' })))).toEqual([one]);
  });

  test('refuses pages and filters that make no sense, and says all that is wrong', async () => {
    const user = createUser(api, 'refused');
    const item = async (parameters: Record<string, string>) => {
      const answer = await user.get(query(parameters));
      expect(answer.status).toBe(422);
      return answer.body;
    };
    expect(await item({ skip: '-1', limit: '101' })).toEqual({
      detail: [
        {
          loc: ['query', 'skip'],
          msg: 'ensure this value is greater than or equal to 0',
          type: 'value_error.number.not_ge',
          ctx: { limit_value: 0 },
        },
        {
          loc: ['query', 'limit'],
          msg: 'ensure this value is less than or equal to 100',
          type: 'value_error.number.not_le',
          ctx: { limit_value: 100 },
        },
      ],
    });
    expect(await item({ limit: '0' })).toMatchObject({ detail: [{ type: 'value_error.number.not_ge' }] });
    expect(await item({ limit: 'ten' })).toMatchObject({ detail: [{ type: 'type_error.integer' }] });
    expect(await item({ filters: '{' })).toMatchObject({
      detail: [{ loc: ['query', 'filters'], type: 'value_error.jsondecode' }],
    });
    expect(await item({ filters: '{"a": {"$where": 1}}' })).toMatchObject({
      detail: [{ loc: ['query', 'filters', 'a', '$where'] }],
    });
  });

  test('never holds up other requests, however many chunk ids it lists', async () => {
    const user = createUser(api, 'large');
    const first = await user.ingestCompleted(['x']);
    const record = await api.records.read(first);
    if (!record?.published) throw new Error('unreachable');
    // Their chunks are not needed here, and would take a while to be written.
    const published = { ...record.published, generation: null, chunkCount: 20_000 };
    for (let i = 100; i < 200; i += 1) {
      const id = `00000000-0000-4000-8000-000000000${String(i)}`;
      await api.records.create({ ...record, id, published, revision: 1 });
    }
    const { longest, total } = await turnsOf(async () => {
      const listing = listElsewhere(`${api.url}/documents`, user.token);
      let bytes = 0;
      void listing.then((received) => (bytes = received));
      while (bytes === 0) expect((await user.get(`/documents/${first}/status`)).status).toBe(200);
      expect(await listing).toBeGreaterThan(100 * 20_000 * 40);
    });
    // Made in one go, it would hold up one of them for most of that time.
    expect(longest).toBeLessThan(total / 4);
  });
});

/** Lists in a process of its own and resolves with the size of the answer. */
async function listElsewhere(url: string, token: string): Promise<number> {
  const script = `
    const response = await fetch(process.argv[1], { headers: { Authorization: 'Bearer ' + process.argv[2] } });
    let size = 0;
    for await (const part of response.body) size += part.length;
    console.log(size);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, url, token]);
  return Number(stdout);
}

describe('GET /documents/{document_id}', () => {
  test('answers 404 for what is no document', async () => {
    const user = createUser(api, 'seeker');
    const ids = ['00000000-0000-4000-8000-000000000000', 'x', '*', '%00', '..%2f..', 'a'.repeat(5000)];
    for (const id of ids) {
      for (const path of ['', '/status', '/chunks', '/download']) {
        const answer = await user.get(`/documents/${id}${path}`);
        expect([answer.status, answer.body]).toEqual([404, { detail: 'Document not found' }]);
      }
    }
  });
});

describe('GET /documents/{document_id}/chunks', () => {
  test('pages through the chunks of the published version', async () => {
    const user = createUser(api, 'reader');
    const texts = Array.from({ length: 120 }, (_, i) => `text ${String(i)}`);
    const id = await user.ingestCompleted(texts);
    const expected = texts.map((content, chunk_number) => ({
      chunk_number,
      content,
      token_count: 3,
      location: null,
      section: [],
    }));
    expect((await user.get(`/documents/${id}/chunks`)).body).toEqual(expected.slice(0, 100));
    expect((await user.get(`/documents/${id}/chunks?skip=118&limit=10`)).body).toEqual(expected.slice(118));
    expect((await user.get(`/documents/${id}/chunks?skip=120`)).body).toEqual([]);
    expect((await user.get(`/documents/${id}/chunks?limit=0`)).status).toBe(422);
  });

  test('has none while none is published, then those of the old version until the new one is', async () => {
    const user = createUser(api, 'updater');
    const id = await user.ingest('old');
    expect((await user.get(`/documents/${id}/chunks`)).body).toEqual([]);
    await playIngest(api, id, ['old']);
    const put = await user.send(
      ...(['PUT', `/documents/${id}/content`, { content: 'new' }, { Prefer: 'respond-async' }] as const),
    );
    expect(put.status).toBe(202);
    expect((await user.get(`/documents/${id}/chunks`)).body).toMatchObject([{ content: 'old' }]);
    await playIngest(api, id, ['new', 'newer']);
    expect((await user.get(`/documents/${id}/chunks`)).body).toMatchObject([
      { content: 'new' },
      { content: 'newer' },
    ]);
    expect(documentOf(await user.get(`/documents/${id}`)).chunk_ids).toEqual([`${id}-0`, `${id}-1`]);
  });
});
