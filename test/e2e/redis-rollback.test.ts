import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import type { RedisCopy } from '../support/redis.js';
import { startTestS3 } from '../support/s3.js';
import { startService, type Service } from '../support/service.js';
import { storedSources } from '../support/stored-sources.js';
import { until } from '../support/until.js';

interface DocumentHit {
  readonly document_id: string;
  readonly content: { readonly type: string; readonly value: string; readonly filename: string | null };
}

/** Long enough for a file of its own. */
const FIRST = Array<string>(200).fill('The heron stands in the reeds and waits for fish.').join(' ');
/** Kept in its record. */
const SHORT = 'The heron preens.';
const OTHER = 'The heron of another text stands elsewhere.';

let service: Service;
let client: Client;
let copy: RedisCopy;

afterEach(() => copy.discard());

/** Redis loses everything since the copy: it comes back as it would after a crash with `appendfsync everysec`. */
async function rollBack(): Promise<void> {
  const { redis } = service;
  await redis.crash();
  await copy.putBack();
  await redis.start();
  await until(async () => (await client.get('/documents')).status === 200);
}

async function download(path: string) {
  const response = await fetch(service.url + path, { headers: { authorization: client.authorization } });
  return { status: response.status, text: await response.text() };
}

const documentHits = async (k = 10) =>
  (await client.post<DocumentHit[]>('/retrieve/docs', { query: 'Where does the heron stand?', k })).body;

/** Documents that get a new version, which Redis then forgets, once `isSwept`. */
async function forgetNewVersion(
  isSwept: () => Promise<boolean>,
): Promise<{ text: string; file: string; short: string }> {
  const text = (await client.ingestText(FIRST)).body.external_id;
  const file = (await client.ingestFile(Buffer.from(FIRST), 'heron.txt')).body.external_id;
  const short = (await client.ingestText(SHORT)).body.external_id;
  await client.ingestText(OTHER);
  copy = await service.redis.copyData();
  for (const id of [text, file, short]) {
    const replaced = await client.put<WireDocument>(`/documents/${id}/content`, {
      content: 'A crane dances.',
    });
    expect(replaced).toMatchObject({ status: 200, body: { system_metadata: { published_version: 2 } } });
  }
  await until(isSwept);
  await rollBack();
  return { text, file, short };
}

const SWEEPS = /^quire_jobs_total\{queue="maintenance",job="sweep",outcome="done"\} (\d+)$/m;

/** Three more than when it is asked first. */
function someSweeps(): () => Promise<boolean> {
  let first: number | null = null;
  return async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const sweeps = Number(SWEEPS.exec(text)?.[1] ?? 0);
    return sweeps - (first ??= sweeps) >= 3;
  };
}

describeOnEachIndex((startOn) => {
  beforeAll(async () => {
    service = await startOn({ env: { QUIRE_WORKERS_KEEP_SOURCES_SECONDS: '3600' } });
  });
  afterAll(() => service.stop());

  test('Redis that comes back without its last seconds has lost no byte that was acknowledged before them', async () => {
    client = createClient(service.url, 'alice');
    const { text, file, short } = await forgetNewVersion(someSweeps());
    expect(await download(`/documents/${short}/download`)).toEqual({ status: 200, text: SHORT });
    for (const id of [text, file]) {
      const { body } = await client.get<WireDocument>(`/documents/${id}`);
      expect(body.system_metadata).toMatchObject({ published_version: 1, status: 'completed' });
      expect(await download(`/documents/${id}/download`)).toEqual({ status: 200, text: FIRST });
    }
    const chunks = await client.searchChunks('Where does the heron stand?', { k: 10 });
    expect(chunks.body.map(({ document_id: id }) => id)).toEqual(expect.arrayContaining([text, file]));
    const hits = await documentHits();
    expect(hits.find(({ document_id: id }) => id === text)?.content.value).toBe(FIRST);
    expect(hits).toHaveLength(4);
  });

  test('one that comes back after longer than sources are kept costs the sources of their own alone, and says so', async () => {
    client = createClient(service.url, 'bob');
    await service.workers.pop()?.kill('SIGTERM');
    service.startWorker(undefined, { QUIRE_WORKERS_KEEP_SOURCES_SECONDS: '0' });
    const others = new Set(await storedSources(service.dataDirectory));
    const sources = async () =>
      (await storedSources(service.dataDirectory)).filter((name) => !others.has(name));
    // Two are stored and removed.
    const { text, file, short } = await forgetNewVersion(async () => (await sources()).length === 0);
    const gone = { status: 404, text: JSON.stringify({ detail: 'The source of this document is missing' }) };
    for (const id of [text, file]) expect(await download(`/documents/${id}/download`)).toEqual(gone);
    // One in a record comes back with it.
    expect(await download(`/documents/${short}/download`)).toEqual({ status: 200, text: SHORT });
    const hits = await documentHits();
    expect(hits).toHaveLength(4);
    const found = (id: string) => hits.find(({ document_id: each }) => each === id)?.content;
    // Searches know all of it.
    expect(found(text)).toEqual({ type: 'string', value: FIRST, filename: null });
    expect(found(file)).toMatchObject({ type: 'url', filename: 'heron.txt' });
    expect(
      await download(new URL(found(file)?.value ?? '').pathname + new URL(found(file)?.value ?? '').search),
    ).toEqual(gone);
    expect(hits.map(({ content }) => content.value)).toContain(OTHER);
    expect(service.api.output()).toContain('the source of a document is missing');
    // A new version mends it.
    const again = await client.put<WireDocument>(`/documents/${text}/content`, { content: FIRST });
    expect(again.status).toBe(200);
    expect((await download(`/documents/${text}/download`)).status).toBe(200);
  });
});

test('in S3, too, what is kept survives and what is missing is told from what is away', async () => {
  const s3 = await startTestS3();
  try {
    const env = { QUIRE_S3_TIMEOUT_SECONDS: '3', QUIRE_WORKERS_KEEP_SOURCES_SECONDS: '0' };
    service = await startService({ env: { ...s3.env, ...env } });
    client = createClient(service.url, 'alice');
    const sources = async () => (await s3.keys()).filter((key) => !key.startsWith('markers/'));
    const { text } = await forgetNewVersion(async () => (await sources()).length === 0);
    expect((await download(`/documents/${text}/download`)).status).toBe(404);
    expect((await documentHits()).map(({ content }) => content.value)).toEqual(
      expect.arrayContaining([FIRST, OTHER]),
    );
    await s3.crash();
    expect((await download(`/documents/${text}/download`)).status).toBe(503);
    expect((await client.post('/retrieve/docs', { query: 'Where does the heron stand?' })).status).toBe(503);
  } finally {
    await service.stop();
    await s3.stop();
  }
});
