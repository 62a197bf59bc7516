import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client } from '../support/client.js';
import { manyPages, pagesPdf } from '../support/pdfs.js';
import { startService, type Service } from '../support/service.js';

let service: Service;
let client: Client;

beforeAll(async () => {
  service = await startService();
  client = createClient(service.url);
});

afterAll(async () => {
  await service.stop();
});

/** Reading, cutting and embedding such a file takes several seconds; the API's part of it is to store its bytes. */
const MOST_API_CPU_SECONDS = 1.5;

test('a PDF of 600 pages is taken in while the API, which leaves the work to others, goes on answering', async () => {
  const file = pagesPdf(manyPages(600));
  const before = await metric('process_cpu_seconds_total');
  await metric('nodejs_eventloop_lag_p99_seconds');
  const uploading = client.ingestFile(file, 'large.pdf', { prefer: 'wait=120' });
  const ended = new AbortController();
  const done = uploading.finally(() => {
    ended.abort();
  });
  let answers = 0;
  while (!ended.signal.aborted) {
    expect((await client.get('/documents?limit=1')).status).toBe(200);
    answers += 1;
    await sleep(100);
  }
  const { status, body } = await done;
  const cpu = (await metric('process_cpu_seconds_total')) - before;
  const lag = await metric('nodejs_eventloop_lag_p99_seconds');
  console.info(
    `600 pages: event loop lag p99 ${(lag * 1000).toFixed(1)} ms, API ${cpu.toFixed(2)} s of CPU, ${String(answers)} answers`,
  );
  expect(status).toBe(200);
  const request = { k: 1, filters: { external_id: body.external_id } };
  const [found] = (await client.searchChunks('axolotl577', request)).body;
  expect(found?.content).toContain('axolotl577');
  expect(cpu).toBeLessThan(MOST_API_CPU_SECONDS);
});

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}
