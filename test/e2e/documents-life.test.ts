import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { systemErrorCode } from '../../src/shared/system-error-code.js';
import { createRedis } from '../../src/shared/redis/client.js';
import type { Client, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { endlessPdf, pagesPdf } from '../support/pdfs.js';
import { until } from '../support/until.js';

describeOnEachSharedIndex((service) => {
  let client: Client;

  beforeAll(() => {
    client = service.client('alice');
  });

  const read = async (path: string) => (await client.get<WireDocument>(path)).body;
  const stageOf = async (path: string) => (await read(path)).system_metadata.stage;
  const endless = () => Buffer.from(endlessPdf());

  async function putFile(path: string, file: { bytes: Uint8Array; name: string }, prefer = 'wait=30') {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(file.bytes)]), file.name);
    const init = { body: form, headers: { prefer } };
    return client.send<WireDocument & { detail?: string }>('PUT', `${path}/content`, init);
  }

  test('an ingest that is cancelled while it is read tells who waits, and can be tried again', async () => {
    const waiting = client.ingestFile(endless(), 'endless.pdf', { prefer: 'wait=60' });
    let path = '';
    await until(async () => {
      const [newest] = (await client.get<WireDocument[]>('/documents?limit=1')).body;
      path = `/documents/${newest?.external_id ?? ''}`;
      return newest?.system_metadata.stage === 'parsing';
    });
    const cancelled = await client.post<WireDocument>(`${path}/cancel`);
    expect(cancelled).toMatchObject({
      status: 200,
      body: { system_metadata: { status: 'cancelled', error: null } },
    });
    const told = await waiting;
    expect([told.status, told.headers.get('location')]).toEqual([409, path]);
    expect(await client.post(`${path}/cancel`)).toMatchObject({ status: 200, body: cancelled.body });

    const again = await client.post<WireDocument>(`${path}/retry`, {}, { prefer: 'respond-async' });
    expect(again.status).toBe(202);
    expect(again.headers.get('location')).toBe(`${path}/status`);
    await until(async () => (await stageOf(path)) === 'parsing');
    const replaced = await client.put<WireDocument>(`${path}/content`, { content: 'Short after all.' });
    expect(replaced).toMatchObject({
      status: 200,
      body: {
        content_type: 'text/plain',
        storage_info: {},
        system_metadata: { version: 2, published_version: 2 },
      },
    });
    expect((await client.searchChunks('short after all', { k: 1 })).body).toMatchObject([
      { content: 'Short after all.' },
    ]);
  });

  test('pages beyond the last are empty, however far; what is no number that can be told apart is refused', async () => {
    const pager = service.client('pager');
    const { body } = await pager.ingestText('The only one.');
    const chunks = `/documents/${body.external_id}/chunks`;
    const far = ['2', '999999', '1000000', '1000001', '10000000', '4294967296', '9007199254740991'];
    const filters = encodeURIComponent(JSON.stringify({ created_at: { $gt: '2020-01-01' } }));
    for (const path of ['/documents?', `/documents?filters=${filters}&`, `${chunks}?`]) {
      for (const skip of far) {
        for (const limit of ['', '&limit=1']) {
          const reply = await pager.get(`${path}skip=${skip}${limit}`);
          expect([skip, reply.status, reply.body]).toEqual([skip, 200, []]);
        }
      }
      for (const skip of ['9007199254740993', '9'.repeat(40), '1e21', '-1', '1.5', 'Infinity', '0x10']) {
        const reply = await pager.get<{ detail: unknown }>(`${path}skip=${encodeURIComponent(skip)}`);
        expect([skip, reply.status]).toEqual([skip, 422]);
        expect(reply.body.detail).toMatchObject([{ loc: ['query', 'skip'] }]);
      }
      expect((await pager.get<unknown[]>(`${path}skip=0`)).body).toHaveLength(1);
    }
    expect((await pager.delete(`/documents/${body.external_id}`)).status).toBe(200);
  });

  test('a new version that fails leaves the published one as it was, in all that is shown', async () => {
    const { body } = await client.ingestFile(Buffer.from('# Swans\n\nA swan glides.'), 'swan.md');
    const path = `/documents/${body.external_id}`;
    const failed = await putFile(path, { bytes: Buffer.from('%PDF-1.7 broken'), name: 'swan.pdf' });
    expect(failed).toMatchObject({ status: 400, body: { detail: 'The PDF file is damaged.' } });
    expect(await read(failed.headers.get('location') ?? '')).toMatchObject({
      filename: 'swan.md',
      content_type: 'text/markdown',
      chunk_ids: body.chunk_ids,
      storage_info: body.storage_info,
      system_metadata: {
        version: 2,
        published_version: 1,
        status: 'failed',
        error: { code: 'corrupt', stage: 'parsing' },
        chunk_count: body.system_metadata.chunk_count,
        size_bytes: 23,
      },
    });
    expect((await client.searchChunks('swan', { k: 1 })).body).toMatchObject([
      { document_id: body.external_id },
    ]);
    const { authorization } = client;
    const download = await fetch(`${service.url}${path}/download`, { headers: { authorization } });
    expect(await download.text()).toBe('# Swans\n\nA swan glides.');
    const retried = await client.post<WireDocument>(`${path}/retry`);
    expect(retried).toMatchObject({
      status: 200,
      body: { system_metadata: { status: 'failed', version: 2 } },
    });
    const mended = await putFile(path, { bytes: Buffer.from('A swan sings.'), name: 'song.txt' });
    expect(mended).toMatchObject({
      status: 200,
      body: {
        filename: 'song.txt',
        system_metadata: { version: 3, published_version: 3, status: 'completed', error: null },
      },
    });
  });

  test('what is cancelled holds up nobody any longer', async () => {
    const held = await Promise.all(
      [1, 2].map((n) => client.ingestFile(endless(), `endless${String(n)}.pdf`, { prefer: 'respond-async' })),
    );
    const paths = held.map(({ body }) => `/documents/${body.external_id}`);
    await until(async () => (await Promise.all(paths.map(stageOf))).every((stage) => stage === 'parsing'));
    for (const path of paths) expect((await client.post(`${path}/cancel`)).status).toBe(200);
    const started = performance.now();
    const next = await client.ingestFile(pagesPdf([['A page of its own.']]), 'next.pdf');
    expect(next.status).toBe(200);
    // A parser that went on with them would have a minute.
    expect(performance.now() - started).toBeLessThan(25_000);
  });

  test('a new version of the same content changes nothing', async () => {
    const { body } = await client.ingestText('The same as ever.');
    const same = await client.put<WireDocument>(`/documents/${body.external_id}/content`, {
      content: 'The same as ever.',
    });
    expect(same).toMatchObject({ status: 200, body });
  });

  test('while a new version is read the old one answers, and says so', async () => {
    const { body } = await client.ingestText('The kingfisher dives.');
    const path = `/documents/${body.external_id}`;
    const started = await putFile(path, { bytes: endless(), name: 'endless.pdf' }, 'respond-async');
    expect(started).toMatchObject({
      status: 202,
      body: { content_type: 'text/plain', system_metadata: { version: 2, published_version: 1 } },
    });
    await until(async () => (await stageOf(path)) === 'parsing');
    expect((await client.searchChunks('kingfisher', { k: 1 })).body).toMatchObject([
      { document_id: body.external_id },
    ]);
    expect((await client.get<unknown[]>(`${path}/chunks`)).body).toHaveLength(1);
    expect((await client.patch(path, { metadata: { river: 'Thames' } })).status).toBe(200);
    expect((await client.searchChunks('kingfisher', { filters: { river: 'Thames' } })).body).toHaveLength(1);
    expect((await client.delete(path)).body).toEqual({ success: true });
    expect((await client.searchChunks('kingfisher', { min_score: 0.1 })).body).toEqual([]);
    expect(await client.delete(path)).toMatchObject({ status: 404, body: { detail: 'Document not found' } });
  });

  test('a document that was deleted leaves neither bytes nor chunks behind', async () => {
    const { body: large } = await client.ingestText('Many words of one document. '.repeat(20_000));
    expect(large.system_metadata.chunk_count).toBeGreaterThan(200);
    const { body: documents } = await client.get<WireDocument[]>('/documents');
    const ids = documents.map(({ external_id: id }) => id);
    for (const id of ids) expect((await client.delete(`/documents/${id}`)).status).toBe(200);
    expect((await client.get('/documents')).body).toEqual([]);

    const redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
    await redis.connect();
    try {
      const left = async () => {
        const keys: string[] = [];
        for await (const page of redis.scanIterator({ COUNT: 1_000 })) keys.push(...page);
        // Jobs are kept for a while, by their ids.
        return keys.filter(
          (key) =>
            ids.some((id) => key.includes(id)) &&
            !key.includes('ingest-') &&
            !/:(?:ingestion|embedding|maintenance):/.test(key),
        );
      };
      await until(async () => (await left()).length === 0);
      const directory = join(service.dataDirectory, 'objects');
      // Their names hold the ids of their documents.
      const isEmpty = async () => {
        try {
          const names = await readdir(directory, { recursive: true });
          return !names.some((name) => ids.some((id) => name.includes(id)));
        } catch (error) {
          // A folder was taken away while it was being read.
          if (systemErrorCode(error) === 'ENOENT') return false;
          throw error;
        }
      };
      await until(isEmpty);
    } finally {
      await redis.close();
    }
  });
});
