import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Quire, type BodyOf, type Progress } from 'quire-client';
import { pagesPdf } from '../support/pdfs.js';
import { allOf, failureOf } from '../support/quire-client.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });
const quireOf = (name: string, permissions?: readonly string[]) =>
  new Quire({
    url: `${service.url}/`,
    token: service.client(name, permissions).authorization.replace('Bearer ', ''),
  });
const HERON = 'A heron stands in the reeds. It waits for a fish.';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-client-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('quire.ingest', () => {
  test('takes a text with its fields, and tells whether it is ready', async () => {
    const quire = quireOf('texts');
    const metadata = { topic: 'birds', place: { water: ['reeds', 1] } };
    const ingested = await quire.ingest.text(HERON, { metadata, filename: 'heron.txt' });
    expect(ingested).toMatchObject({ ready: true, value: { filename: 'heron.txt', metadata } });
    const later = await quire.ingest.text('A bittern booms.', { wait: false });
    expect(later.ready).toBe(false);
    const ready = await quire.documents.waitUntilReady(later.value.external_id);
    expect(ready.system_metadata.status).toBe('completed');
  });

  test('makes a key by itself, and the same text twice without one of ours', async () => {
    const quire = quireOf('keys');
    const first = await quire.ingest.text(HERON, { idempotencyKey: 'the same' });
    const again = await quire.ingest.text(HERON, { idempotencyKey: 'the same' });
    const other = await quire.ingest.text(HERON);
    expect(again.value.external_id).toBe(first.value.external_id);
    expect(other.value.external_id).not.toBe(first.value.external_id);
  });

  test('takes files of every kind, with their names, and tells how far they are', async () => {
    const quire = quireOf('files');
    const path = join(folder, 'at "home" ü.txt');
    await writeFile(path, HERON);
    const told: Progress[] = [];
    const onProgress = (progress: Progress) => void told.push(progress);
    const sources = [
      [path, 'at "home" ü.txt'],
      [pathToFileURL(path), 'at "home" ü.txt'],
      [createReadStream(path), 'at "home" ü.txt'],
      [new File([HERON], 'heron.txt', { type: 'text/plain' }), 'heron.txt'],
      [Buffer.from(HERON), 'file'],
      [new Blob([HERON]).stream(), 'file'],
    ] as const;
    for (const [source, filename] of sources) {
      const { value } = await quire.ingest.file(source, { metadata: { topic: 'birds' }, onProgress });
      expect(value).toMatchObject({ filename, metadata: { topic: 'birds' } });
    }
    const size = Buffer.byteLength(HERON);
    expect(told.map(({ sent }) => sent)).toEqual(sources.map(() => size));
    expect(told.map(({ total }) => total)).toEqual([size, size, null, size, size, null]);
    expect(await quire.search.chunks({ query: 'heron', k: 10 })).toHaveLength(sources.length);
  });

  test('rejects for a path that leads nowhere', async () => {
    const missing = quireOf('nowhere').ingest.file(join(folder, 'nowhere.txt'));
    await expect(missing).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('streams a file without holding it', async () => {
    const quire = quireOf('streams');
    const MEBIBYTES = 64;
    let read = 0;
    const told: number[] = [];
    async function* lines() {
      for (let part = 0; part < MEBIBYTES * 16; part += 1) {
        const bytes = Buffer.from('quire leaves\n'.repeat(5_041));
        read += bytes.length;
        yield await Promise.resolve(bytes);
      }
    }
    const onProgress = ({ sent }: Progress) => void told.push(read - sent);
    // The service refuses so many chunks later, which is not what this test is about.
    const options = { filename: 'leaves.txt', wait: false, onProgress } as const;
    const { value } = await quire.ingest.file(lines(), options);
    await quire.documents.delete(value.external_id);
    expect(read).toBeGreaterThan(MEBIBYTES * 1_000_000);
    expect(Math.max(...told)).toBeLessThan(1_000_000);
  });

  test('takes many files and many texts, with an outcome for each', async () => {
    const quire = quireOf('many');
    const files = [new File(['A crane.'], 'crane.txt'), new File(['A stork.'], 'stork.txt')];
    const { ready, value } = await quire.ingest.files(files, { metadata: [{ n: 1 }, { n: 2 }], ocr: 'off' });
    expect(ready).toBe(true);
    expect(value.map(({ index }) => index)).toEqual([0, 1]);
    const texts = await quire.ingest.batch([{ content: 'An egret.' }, { content: ' ' }], { wait: 60 });
    expect(texts.value[0]).toMatchObject({ status: 'completed' });
    expect(texts.value[1]?.error?.loc).toEqual(['body', 'content']);
    const listed = await allOf(quire.documents.list({ filters: { n: { $gte: 1 } }, sort: 'name' }));
    expect(listed.map(({ filename }) => filename)).toEqual(['crane.txt', 'stork.txt']);
  });
});

describe('quire.search and quire.ask', () => {
  test('find chunks and documents', async () => {
    const quire = quireOf('searcher');
    await quire.ingest.text(HERON, { metadata: { topic: 'birds' } });
    const search = { query: 'heron', filters: { topic: 'birds' }, k: 2 };
    const [chunk] = await quire.search.chunks(search);
    expect(chunk).toMatchObject({ content: HERON, chunk_number: 0 });
    const [found] = await quire.search.docs(search);
    expect(found?.content.value).toBe(HERON);
  });

  test('answer piece by piece, and end with the sources', async () => {
    const quire = quireOf('asker');
    const { value } = await quire.ingest.text(HERON);
    const asked = quire.ask('Where does a heron stand?');
    const parts = await allOf(asked);
    const end = parts.at(-1);
    if (end?.type !== 'end') throw new Error('an answer without an end');
    expect(end.sources[0]).toMatchObject({ document_id: value.external_id });
    const text = parts.map((part) => (part.type === 'token' ? part.text : '')).join('');
    expect(text).toContain('A heron stands in the reeds.');
    const whole = await asked.answer();
    expect(whole.completion).toBe(text);
    expect(whole.sources).toEqual(end.sources);
  });

  test('see only what their caller may read', async () => {
    const { value } = await quireOf('owner').ingest.text(HERON);
    const other = quireOf('stranger');
    expect(await other.search.chunks({ query: 'heron' })).toEqual([]);
    expect(await failureOf(other.documents.get(value.external_id))).toMatchObject({ status: 403 });
  });
});

describe('quire.documents', () => {
  test('lists all pages, or as many documents as are wanted', async () => {
    const quire = quireOf('lister');
    const texts = Array.from({ length: 230 }, (_, n) => ({
      content: `Leaf ${String(n)}.`,
      filename: `${String(n).padStart(3, '0')}.txt`,
      metadata: { n },
    }));
    await quire.ingest.batch(texts, { wait: 120 });
    const all = await allOf(quire.documents.list());
    expect(new Set(all.map(({ metadata }) => metadata['n'])).size).toBe(230);
    const some = await allOf(quire.documents.list({ limit: 120, filters: { n: { $lt: 125 } } }));
    expect(some).toHaveLength(120);
    const last = await allOf(quire.documents.list({ sort: '-name', limit: 2 }));
    expect(last.map(({ metadata }) => metadata['n'])).toEqual([229, 228]);
  });

  test('are read, changed, replaced and deleted', async () => {
    const quire = quireOf('changer');
    const { value } = await quire.ingest.text(HERON, { metadata: { topic: 'birds', year: 1 } });
    const id = value.external_id;
    expect((await quire.documents.get(id)).external_id).toBe(id);
    expect((await quire.documents.merge(id, { metadata: { year: null } })).value.metadata).toEqual({
      topic: 'birds',
    });
    const ifMatch = { headers: { 'If-Match': '7' } };
    expect(await failureOf(quire.documents.patch(id, { metadata: {} }, ifMatch))).toMatchObject({
      status: 412,
    });
    expect((await quire.documents.patch(id, { filename: 'b.txt' })).value.filename).toBe('b.txt');
    expect(await quire.documents.putText(id, { content: 'A goose.' })).toMatchObject({ ready: true });
    const put = await quire.documents.putFile(id, new Blob(['A swan.']), { filename: 'swan.txt' });
    expect(put.value.system_metadata.version).toBe(3);
    expect((await quire.documents.status(id)).status).toBe('completed');
    expect((await quire.documents.chunks(id, { skip: 0, limit: 5 }))[0]?.content).toBe('A swan.');
    expect((await quire.documents.extraction(id)).document_id).toBe(id);
    expect((await quire.documents.retry(id)).ready).toBe(true);
    expect((await quire.documents.cancel(id)).external_id).toBe(id);
    expect(await quire.documents.delete(id)).toEqual({ success: true });
    expect(await failureOf(quire.documents.get(id))).toMatchObject({
      status: 404,
      detail: 'Document not found',
    });
  });

  test('are downloaded as they are, JSON included, and shown page by page', async () => {
    const quire = quireOf('downloader');
    const json = await quire.ingest.file(new File(['{"a": "heron"}'], 'a.json'));
    const download = await quire.documents.download(json.value.external_id);
    expect(await download.text()).toBe('{"a": "heron"}');
    const pdf = await quire.ingest.file(new Blob([pagesPdf([['A heron.'], ['A goose.']]).slice()]), {
      filename: 'b.pdf',
    });
    const page = await quire.documents.page(pdf.value.external_id, 2, { highlight: '0' });
    const bytes = new Uint8Array(await page.arrayBuffer());
    expect([...bytes.subarray(1, 4)]).toEqual([...Buffer.from('PNG')]);
  });

  test('that cannot be read say so, to whoever waits', async () => {
    const quire = quireOf('waiter');
    const failed = await failureOf(quire.ingest.file(new File([' '], 'blank.txt')));
    expect(failed.status).toBe(400);
    expect(failed.headers.get('Location')).toMatch(/^\/documents\//);
    const later = await quire.ingest.file(new File(['  '], 'blank.txt'), { wait: false });
    const said = await failureOf(quire.documents.waitUntilReady(later.value.external_id));
    expect(said).toMatchObject({ status: 400, detail: failed.detail });
  });
});

test('caches are made, asked and deleted', async () => {
  const quire = quireOf('cacher');
  const { value } = await quire.ingest.text(HERON);
  const more = await quire.ingest.text('A goose swims.');
  const docs = [value.external_id];
  const made = await quire.caches.create({ name: 'birds', model: 'none', gguf_file: 'none', docs });
  expect(made).toMatchObject({ ready: true, value: { doc_count: 1, success: true } });
  expect(await quire.caches.addDocuments('birds', { docs: [more.value.external_id] })).toMatchObject({
    ready: true,
  });
  expect((await quire.caches.update('birds')).value.success).toBe(true);
  expect(await quire.caches.get('birds')).toMatchObject({ exists: true, doc_count: 2 });
  expect((await quire.caches.list()).map(({ name }) => name)).toEqual(['birds']);
  const whole = await quire.caches.ask('birds', 'Where does a heron stand?').answer();
  expect(whole.completion).toContain('reeds');
  const parts = await allOf(
    quire.caches.ask('birds', { query: 'Where does a heron stand?', max_tokens: 500 }),
  );
  expect(parts.at(-1)).toMatchObject({ type: 'end', finish_reason: 'stop' });
  await quire.caches.delete('birds');
  expect(await quire.caches.get('birds')).toEqual({ exists: false });
});

test('what others share is accepted, left and blocked', async () => {
  const reader = service.caller('reader');
  const { value } = await quireOf('sharer').ingest.text(HERON, { access_control: { readers: [reader] } });
  const quire = quireOf('reader');
  const sharer = service.caller('sharer');
  expect(await quire.search.chunks({ query: 'heron' })).toHaveLength(1);
  await quire.sharing.acceptDocument(value.external_id);
  expect((await quire.sharing.get()).accepted_documents).toEqual([value.external_id]);
  await quire.sharing.accept(sharer);
  await quire.sharing.acceptNoMore(sharer);
  await quire.sharing.block(sharer);
  expect((await quire.sharing.get()).blocked_owners).toEqual([sharer]);
  await quire.sharing.unblock(sharer);
  await quire.sharing.leaveDocument(value.external_id);
  expect(await quire.search.chunks({ query: 'heron' })).toEqual([]);
});

test('usage is counted', async () => {
  const quire = quireOf('user');
  await quire.ingest.text(HERON);
  await quire.search.chunks({ query: 'heron' });
  expect(await quire.usage.stats()).toEqual({ ingest_text: 1, retrieve_chunks: 1 });
  expect(await quire.usage.recent({ operation_type: 'retrieve_chunks', limit: 5 })).toHaveLength(1);
  expect(await quire.usage.quota()).toBeDefined();
});

test('any route can be called', async () => {
  const quire = quireOf('anybody');
  const { external_id: id } = (await quire.request('POST /ingest/text', { body: { content: HERON } })).value;
  const path = { document_id: id };
  const [chunk] = await quire.request('GET /documents/{document_id}/chunks', { path, query: { limit: 1 } });
  expect(chunk?.content).toBe(HERON);
  expect(await quire.request('GET /caches')).toEqual([]);
});

describe('an error', () => {
  test('says what the service says, and names the fields', async () => {
    const misspelt = { query: 'heron', k: 0, filter: {} };
    // The declared type hides the mistake from the compiler.
    const search: BodyOf<'POST /retrieve/chunks'> = misspelt;
    const error = await failureOf(quireOf('mistaken').search.chunks(search));
    expect(error.status).toBe(422);
    expect(error.errors.map(({ loc }) => loc.join('.')).sort()).toEqual(['body.filter', 'body.k']);
    expect(error.detail).toContain('body.k: ');
    expect(error.requestId).toMatch(/.+/);
    expect(error.message).toContain('422');
  });

  test('is a refusal of the token or the permission', async () => {
    const nobody = new Quire({ url: service.url, token: 'nonsense', retries: 0 });
    // Dev mode takes an invalid token for none.
    expect(await nobody.request('GET /health')).toBeDefined();
    const reader = quireOf('only reader', ['read']);
    expect(await failureOf(reader.ingest.text(HERON))).toMatchObject({ status: 403 });
  });

  test('is made of ids that would lead to another route', async () => {
    const quire = quireOf('odd');
    for (const id of ['', '.', '..']) await expect(quire.documents.delete(id)).rejects.toThrow(TypeError);
    expect(await failureOf(quire.documents.get('../caches'))).toMatchObject({ status: 404 });
  });
});
