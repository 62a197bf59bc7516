import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client } from '../support/client.js';
import { manyPages, pagesPdf } from '../support/pdfs.js';
import { parsersOf, processorSeconds } from '../support/processes.js';
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

/** Of the processor time that reading, cutting and embedding such a file takes. The API's part of it is to store its bytes. */
const MAX_API_SHARE = 0.4;

test('a PDF of 600 pages is taken in while the API, which leaves the work to others, goes on answering', async () => {
  const file = pagesPdf(manyPages(600));
  const before = await processorTimes();
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
    await sleep(250);
  }
  const { status, body } = await done;
  const after = await processorTimes();
  const [api, others] = [after.api - before.api, after.others - before.others];
  const lag = await metric('nodejs_eventloop_lag_p99_seconds');
  console.info(
    `600 pages: event loop lag p99 ${(lag * 1000).toFixed(1)} ms, API ${api.toFixed(2)} s of CPU, others ${others.toFixed(2)} s, ${String(answers)} answers`,
  );
  expect(status).toBe(200);
  const request = { k: 1, filters: { external_id: body.external_id } };
  const [found] = (await client.searchChunks('axolotl577', request)).body;
  expect(found?.content).toContain('axolotl577');
  expect(api).toBeLessThan(MAX_API_SHARE * others);
});

/** Of the API, and of the worker and its parsers. */
async function processorTimes(): Promise<{ api: number; others: number }> {
  const [worker] = service.workers;
  if (!worker) throw new Error('no worker');
  const ids = [worker.child.pid ?? 0, ...(await parsersOf(worker))];
  const times = await Promise.all([service.api.child.pid ?? 0, ...ids].map(processorSeconds));
  const [api = 0, ...others] = times;
  return { api, others: others.reduce((sum, each) => sum + each, 0) };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}
