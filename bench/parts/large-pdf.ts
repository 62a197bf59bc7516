import { setTimeout as sleep } from 'node:timers/promises';
import { pagesPdf } from '../../test/support/pdfs.js';
import { takeArticles } from '../files/articles.js';
import { articlePages } from '../files/pages.js';
import { SECRET, startBenchService, type BenchService } from '../load/bench-service.js';
import { eventLoopDelay } from '../load/loop-delay.js';
import { authorizationOf, createBenchClient, round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import type { Measured } from './goals.js';

const PAGES = 600;
/** More than fit on so many pages. */
const CHARACTERS = 4_500_000;
/** The first one meets a parser that was not started yet. */
const RUNS = 3;
const PAUSE_MS = 50;
const MAX_MS = 120_000;

/** Seconds from the upload of a PDF of 600 full pages until a search finds its last page, and the event loop of the API meanwhile. */
export async function measureLargePdf(scifact: Collection) {
  const pages = articlePages(takeArticles(scifact, CHARACTERS)).slice(0, PAGES);
  const service = await startBenchService();
  const rows = [];
  try {
    for (let run = 1; run <= RUNS; run += 1) rows.push({ run, ...(await measureRun(service, pages, run)) });
  } finally {
    await service.stop();
  }
  console.log(`a PDF of ${String(pages.length)} pages, from its upload until a search finds its last page`);
  console.table(rows);
  const measured: Measured = {
    'large pdf': { value: Math.max(...rows.map(({ secondsToFound }) => secondsToFound)) },
    'large pdf loop delay': { value: Math.max(...rows.map(({ loopP99Ms }) => loopP99Ms)) },
  };
  return { figures: rows, measured };
}

async function measureRun(service: BenchService, pages: readonly (readonly string[])[], run: number) {
  const mark = `axolotl${String(run)}`;
  const marked = pages.map((lines, at) =>
    at === pages.length - 1 ? [...lines, `The last page tells of the ${mark}.`] : lines,
  );
  const bytes = pagesPdf(marked);
  const client = createBenchClient({ ...service.target, user: 'reader' });
  try {
    await eventLoopDelay(service.api);
    const started = performance.now();
    await upload(service.url, bytes);
    const secondsToAnswer = (performance.now() - started) / 1_000;
    while (!(await isFound(client, mark))) {
      if (performance.now() - started > MAX_MS) throw new Error('the document was not found in time');
      await sleep(PAUSE_MS);
    }
    const secondsToFound = (performance.now() - started) / 1_000;
    const { p99, max } = await eventLoopDelay(service.api);
    return {
      megabytes: round(bytes.length / 1e6),
      secondsToAnswer: round(secondsToAnswer),
      secondsToFound: round(secondsToFound),
      loopP99Ms: round(p99, 1),
      loopMostMs: round(max, 1),
    };
  } finally {
    client.close();
  }
}

async function upload(url: string, bytes: Uint8Array): Promise<void> {
  const form = new FormData();
  form.set('file', new File([Buffer.from(bytes)], 'large.pdf', { type: 'application/pdf' }));
  const response = await fetch(`${url}/ingest/file`, {
    method: 'POST',
    headers: { authorization: authorizationOf(SECRET, 'reader'), prefer: 'respond-async' },
    body: form,
  });
  if (response.status >= 300) throw new Error(`ingest answered ${String(response.status)}`);
  await response.text();
}

async function isFound(client: ReturnType<typeof createBenchClient>, mark: string): Promise<boolean> {
  const { status, body } = await client.post('/retrieve/chunks', { query: mark, k: 1 });
  if (status !== 200) throw new Error(`a search answered ${String(status)}: ${body}`);
  return body.includes(mark);
}
