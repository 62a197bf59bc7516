import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createClient,
  type Client,
  type Reply,
  type WireChunk,
  type WireDocument,
} from '../support/client.js';
import { startService, type Service } from '../support/service.js';

/** Two API processes and two workers of each kind on one Redis and one disk; the second service borrows them. */
let first: Service;
let second: Service;

/** Kinds of workers: work that one kind hands over to another goes to another process. */
const WORKERS = ['ingestion,cache', 'embedding,usage,maintenance'];

beforeAll(async () => {
  first = await startService({ workers: WORKERS });
  second = await startService({ workers: WORKERS, redis: first.redis, dataDirectory: first.dataDirectory });
});

afterAll(async () => {
  await second.stop();
  await first.stop();
});

/** The same user at both. */
function clients(user: string): readonly [Client, Client] {
  return [createClient(first.url, user), createClient(second.url, user)];
}

const idsOf = ({ body }: Reply<WireChunk[]>) => body.map(({ document_id: id }) => id);

test('what was put in at one is found at the other at once, with all that belongs to it', async () => {
  const [here, there] = clients('alice');
  for (let round = 0; round < 15; round += 1) {
    const [one, other] = round % 2 === 0 ? [here, there] : [there, here];
    const word = `marmot${String(round)}`;
    const { status, body } = await one.ingestText(`The ${word} sleeps.`, { metadata: { round } });
    expect(status).toBe(200);
    expect(idsOf(await other.searchChunks(word, { k: 1 }))).toEqual([body.external_id]);
    expect(idsOf(await other.searchChunks('sleeps', { filters: { round } }))).toEqual([body.external_id]);
    expect((await other.get<WireDocument[]>('/documents?limit=1')).body).toEqual([body]);
    const { body: recent } = await other.get<{ operation_type: string }[]>(
      '/usage/recent?operation_type=ingest_text',
    );
    expect(recent).toHaveLength(round + 1);
  }
});

test('a search at one is counted when the other is asked for usage right after its answer', async () => {
  const [here, there] = clients('usage');
  for (let round = 1; round <= 10; round += 1) {
    const [one, other] = round % 2 === 0 ? [here, there] : [there, here];
    expect((await one.searchChunks('marmot')).status).toBe(200);
    expect((await other.get('/usage/stats')).body).toEqual({ retrieve_chunks: round });
    expect((await other.get<unknown[]>('/usage/recent')).body).toHaveLength(round);
  }
});

test('a change, a new version and a deletion at one are seen at the other at once', async () => {
  const [here, there] = clients('bob');
  for (let round = 0; round < 8; round += 1) {
    const [one, other] = round % 2 === 0 ? [here, there] : [there, here];
    const { body } = await one.ingestText('An otter swims.', { metadata: { kind: 'old' } });
    const path = `/documents/${body.external_id}`;
    expect((await one.patch(path, { metadata: { kind: 'new' } })).status).toBe(200);
    expect(idsOf(await other.searchChunks('otter', { filters: { kind: 'new' } }))).toEqual([
      body.external_id,
    ]);
    expect(idsOf(await other.searchChunks('otter', { filters: { kind: 'old' } }))).toEqual([]);
    expect((await one.put(`${path}/content`, { content: 'A heron stands.' })).status).toBe(200);
    expect((await other.searchChunks('heron')).body).toMatchObject([{ content: 'A heron stands.' }]);
    expect((await one.delete(path)).status).toBe(200);
    expect(idsOf(await other.searchChunks('heron'))).toEqual([]);
    expect((await other.get(path)).status).toBe(404);
    expect((await other.get<WireDocument[]>('/documents')).body).toEqual([]);
  }
});

test('a revocation at one holds at the other with its response, and a grant is found', async () => {
  const [ownerHere, ownerThere] = clients('carol');
  const [readerHere, readerThere] = clients('dave');
  for (let round = 0; round < 8; round += 1) {
    const [owner, reader] = round % 2 === 0 ? [ownerHere, readerThere] : [ownerThere, readerHere];
    const file = await owner.ingestFile(Buffer.from('The badger digs.'), 'badger.txt');
    const path = `/documents/${file.body.external_id}`;
    expect((await reader.get(path)).status).toBe(403);
    expect(idsOf(await reader.searchChunks('badger'))).toEqual([]);

    expect((await owner.patch(path, { access_control: { readers: ['dave'] } })).status).toBe(200);
    const [found] = (await reader.searchChunks('badger')).body;
    expect(found?.document_id).toBe(file.body.external_id);
    const name = `badgers${String(round)}`;
    const config = { name, model: 'm', gguf_file: 'f', docs: [file.body.external_id] };
    expect((await reader.post('/cache/create', config)).status).toBe(200);
    const question = { query: 'Who digs?' };
    const before = await reader.post<{ completion: string }>(`/cache/${name}/query`, question);
    expect(before.body.completion).toContain('badger');

    expect((await owner.patch(path, { access_control: { readers: [] } })).status).toBe(200);
    expect((await reader.get(path)).status).toBe(403);
    expect((await reader.get(`${path}/chunks`)).status).toBe(403);
    expect(idsOf(await reader.searchChunks('badger'))).toEqual([]);
    expect((await reader.get<WireDocument[]>('/documents')).body).toEqual([]);
    expect((await fetch(found?.download_url ?? '')).status).toBe(403);
    const after = await reader.post<{ completion: string }>(`/cache/${name}/query`, question);
    expect(JSON.stringify(after.body)).not.toContain('digs');
    expect((await owner.delete(path)).status).toBe(200);
  }
});

test('many at once at both are all done, by whichever worker, and counted once', async () => {
  const [here, there] = clients('erin');
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      (n % 2 === 0 ? here : there).ingestText(`Ant number ant${String(n)} walks.`),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  expect(new Set(replies.map(({ body }) => body.external_id)).size).toBe(60);
  for (const client of [here, there]) {
    expect((await client.searchChunks('walks', { k: 100 })).body).toHaveLength(60);
    expect((await client.get<Record<string, number>>('/usage/stats')).body['ingest_text']).toBe(60);
  }
});

test('changes of one document at both at once are made one after the other', async () => {
  const [here, there] = clients('frank');
  const { body } = await here.ingestText('Version one of the shrew.');
  const path = `/documents/${body.external_id}`;
  const puts = Array.from({ length: 10 }, (_, n) =>
    (n % 2 === 0 ? here : there).put<WireDocument>(`${path}/content`, {
      content: `Shrew number ${String(n)}.`,
    }),
  );
  const replies = await Promise.all(puts);
  for (const { status } of replies) expect([200, 202]).toContain(status);
  const { body: last } = await there.get<WireDocument>(path);
  expect(last.system_metadata).toMatchObject({ version: 11, published_version: 11, status: 'completed' });
  const found = await here.searchChunks('shrew', { k: 50 });
  expect(found.body).toMatchObject([{ document_id: body.external_id, chunk_number: 0 }]);
  // Scores may differ by a trace as long as the terms of superseded versions are still counted.
  expect(idsOf(await there.searchChunks('shrew', { k: 50 }))).toEqual(idsOf(found));
});
