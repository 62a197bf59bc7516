import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import type { Service } from '../support/service.js';

const DOCUMENTS = 10;
const CHUNKS = 30;

interface QuotaUsage {
  readonly documents: { readonly used: number; readonly limit: number | null };
  readonly bytes: { readonly used: number; readonly limit: number | null };
  readonly chunks: { readonly used: number; readonly limit: number | null };
}

/** A text of several chunks of sixteen tokens. */
const textOf = (n: number, words: number) =>
  Array.from({ length: words }, (_, i) => `heron ${String(n)} ${String(i)}`).join(' ');

describeOnEachIndex((start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start({
      env: {
        QUIRE_DEV_MODE: 'false',
        QUIRE_QUOTA_DOCUMENTS: String(DOCUMENTS),
        QUIRE_QUOTA_CHUNKS: String(CHUNKS),
        QUIRE_CHUNK_SIZE: '16',
        QUIRE_CHUNK_OVERLAP: '0',
        QUIRE_METRICS_TOKEN: 'a-token-of-the-tests',
      },
    });
  });
  afterAll(() => service.stop());

  const usageOf = async (client: Client) => (await client.get<QuotaUsage>('/usage/quota')).body;
  const listOf = async (client: Client) => (await client.get<WireDocument[]>('/documents?limit=100')).body;

  test('of fifty ingests at once, a quota of ten documents leaves exactly ten, and as many again once they are deleted', async () => {
    const alice = createClient(service.url, 'alice');
    for (let round = 0; round < 2; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          n % 2 === 0
            ? alice.ingestText(`heron ${String(n)}`)
            : alice.ingestFile(Buffer.from(`# heron ${String(n)}`), 'heron.md'),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array<number>(10).fill(200), ...Array<number>(40).fill(507)]);
      const documents = await listOf(alice);
      expect(documents).toHaveLength(DOCUMENTS);
      expect(await usageOf(alice)).toMatchObject({
        documents: { used: DOCUMENTS, limit: DOCUMENTS },
        bytes: { limit: null },
        chunks: { used: DOCUMENTS, limit: CHUNKS },
      });
      await Promise.all(documents.map(({ external_id }) => alice.delete(`/documents/${external_id}`)));
      expect(await usageOf(alice)).toMatchObject({
        documents: { used: 0 },
        bytes: { used: 0 },
        chunks: { used: 0 },
      });
    }
  });

  test('no more chunks than a quota of them are ever published, and a document that would pass it fails', async () => {
    const bob = createClient(service.url, 'bob');
    const answers = await Promise.all(
      Array.from({ length: DOCUMENTS }, (_, n) => bob.ingestText(textOf(n, n === 0 ? 60 : 12))),
    );
    const documents = await listOf(bob);
    const completed = documents.filter(({ system_metadata: { status } }) => status === 'completed');
    const published = completed.reduce((sum, { system_metadata }) => sum + system_metadata.chunk_count, 0);
    expect(completed.length).toBeGreaterThan(0);
    expect(published).toBeLessThanOrEqual(CHUNKS);
    const { documents: owned, chunks } = await usageOf(bob);
    expect([owned.used, chunks.used]).toEqual([documents.length, published]);
    const failed = documents.filter(({ system_metadata: { status } }) => status === 'failed');
    expect(failed.length).toBeGreaterThan(0);
    for (const { system_metadata } of failed) {
      expect(system_metadata.error?.code).toBe('too_large');
      expect(system_metadata.error?.message).toMatch(/quota of chunks/);
    }
    // Ingests that came once the quota was reached were not begun.
    for (const { status } of answers) expect([200, 400, 507]).toContain(status);
  });

  test('the counts are those of the documents after workers have died in the middle', async () => {
    const carol = createClient(service.url, 'carol');
    const ingests = Array.from({ length: 20 }, (_, n) =>
      carol.ingestText(textOf(n, 3), {}, { Prefer: 'wait=30' }),
    );
    await service.workers[0]?.kill('SIGKILL');
    service.startWorker();
    await Promise.all(ingests);
    const documents = await listOf(carol);
    const chunks = documents.reduce((sum, { system_metadata }) => sum + system_metadata.chunk_count, 0);
    expect(documents).toHaveLength(DOCUMENTS);
    expect(documents.every(({ system_metadata: { status } }) => status === 'completed')).toBe(true);
    expect(await usageOf(carol)).toMatchObject({ documents: { used: DOCUMENTS }, chunks: { used: chunks } });
    const headers = { authorization: 'Bearer a-token-of-the-tests' };
    const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text();
    expect(metrics).toMatch(/^quire_owned\{quota="chunks"\} [1-9]/m);
    expect(metrics).toMatch(/^quire_quota_refusals_total\{quota="documents"\} [1-9]/m);
  });
});
