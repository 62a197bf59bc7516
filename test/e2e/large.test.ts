import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { manyPages, pagesPdf } from '../support/pdfs.js';
import { processorSeconds, processorSecondsOfFamily } from '../support/processes.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

/**
 * The share of the processor time that reading, cutting and embedding such a file takes. The API's part of it is to store
 * its bytes.
 */
const MAX_API_SHARE = 0.4;

test('a PDF of 600 pages is taken in while the API, which leaves the work to others, goes on answering', async () => {
  const client = service.client('reader');
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

/** The times of the API, and of the worker and its parsers. */
async function processorTimes(): Promise<{ api: number; others: number }> {
  const others = await processorSecondsOfFamily(service.worker.pid);
  return { api: await processorSeconds(service.api.pid), others };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}
