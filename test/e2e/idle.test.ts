import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, type Client } from '../support/client.js';
import { manyPages, pagesPdf } from '../support/pdfs.js';
import { parsersOf, residentMegabytes } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

const workers = ['ingestion', 'embedding,cache,usage,maintenance'];
let service: Service;
let client: Client;

beforeAll(async () => {
  service = await startService({ workers, env: { QUIRE_INGEST_PARSER_IDLE_SECONDS: '3' } });
  client = createClient(service.url, 'alice');
});

afterAll(() => service.stop());

/** Process ids. */
const parsers = () => parsersOf(service.workers[0]?.child.pid ?? 0);

test('API and workers are small while nothing is asked of them', async () => {
  const started = [service.api, ...service.workers].map(({ child }) => child.pid ?? 0);
  const ids = [...started, ...(await parsers())];
  const megabytes = await Promise.all(ids.map(residentMegabytes));
  const sum = (name: 'whole' | 'shared') => Math.round(megabytes.reduce((all, each) => all + each[name], 0));
  console.info(
    `API and workers: ${String(sum('whole'))} MB, ${String(sum('shared'))} with shared pages divided`,
  );
  // Some 460 with the tokenizer in WebAssembly and two parsers, 260 to 300 since.
  expect(sum('shared')).toBeLessThan(400);
});

describe('parser processes', () => {
  test('are not there before a document needs one, and short texts need none', async () => {
    expect(await parsers()).toEqual([]);
    expect((await client.ingestText('A quire is a gathering of folded leaves.')).status).toBe(200);
    expect(await parsers()).toEqual([]);
  });

  test('are started for a file, read it at once, and end when no other one comes; then again', async () => {
    const seen = new Set<number>();
    for (const name of ['first.pdf', 'second.pdf']) {
      const began = performance.now();
      const { status, body } = await client.ingestFile(pagesPdf(manyPages(2)), name);
      const milliseconds = performance.now() - began;
      expect(status).toBe(200);
      const [parser = 0, ...others] = await parsers();
      expect(others).toEqual([]);
      expect(seen).not.toContain(parser);
      seen.add(parser);
      console.info(`${name}: searchable after ${milliseconds.toFixed(0)} ms with a new parser`);
      const [found] = (await client.searchChunks('axolotl1', { k: 1 })).body;
      expect(found?.content).toContain('axolotl1');
      expect((await client.get(`/documents/${body.external_id}`)).status).toBe(200);
      await until(async () => (await parsers()).length === 0);
    }
  });
});
