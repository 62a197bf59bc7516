import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parsersOf } from '../support/processes.js';
import { startService, type Service, type StartedProcess } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
const [ingestion, embedding, others] = ['ingestion', 'embedding', 'cache,usage,maintenance'] as const;

beforeAll(async () => {
  service = await startService({
    workers: [ingestion, embedding, others],
    env: { QUIRE_WORKERS_DRAIN_SECONDS: '1' },
  });
});

afterAll(async () => {
  await service.stop();
});

async function ingest(content: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/ingest/text`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ content }),
  });
  const body = (await response.json()) as { external_id: string };
  return { status: response.status, id: body.external_id };
}

const statusOf = async (id: string) => {
  const response = await fetch(`${service.url}/documents/${id}/status`);
  return (await response.json()) as { status: string; stage: string };
};

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
}

const linesOf = (process: StartedProcess | undefined): LogLine[] =>
  (process?.output() ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);

/** Stops the clock of a worker's parser: whatever it is given takes for ever. */
async function freezeParser({ child }: StartedProcess): Promise<void> {
  // It is there after a document, and is the one that takes the next.
  await ingest(long('A sentence that needs a parser.'));
  const parsers = await parsersOf(child.pid ?? 0);
  expect(parsers).toHaveLength(1);
  for (const parser of parsers) process.kill(parser, 'SIGSTOP');
}

/** Too long to be ingested in one go: it passes through a parser and the embedding queue. */
const long = (sentence: string) => `${sentence} `.repeat(500);

describe('the logs', () => {
  test('follow a request through all processes at their usual level, a line each', async () => {
    const requestId = 'follow-me-42';
    const { id } = await ingest(long('A word about lighthouses.'), { 'X-Request-Id': requestId });
    const own = (process: StartedProcess | undefined) =>
      linesOf(process).filter((line) => line.requestId === requestId);
    await until(() => own(service.workers[1]).length > 0 && own(service.api).length > 0);
    expect(own(service.api)).toMatchObject([
      { level: 'info', process: 'api', route: '/ingest/text', callerId: 'dev_user', status: 200 },
    ]);
    expect(own(service.workers[0])).toMatchObject([
      {
        level: 'info',
        job: 'ingest',
        jobId: `ingest-${id}-1-1`,
        outcome: 'done',
        durationMs: expect.any(Number),
      },
    ]);
    expect(own(service.workers[1])).toMatchObject([
      { level: 'info', job: 'embed', jobId: `embed-${id}-1-1-0`, outcome: 'published' },
    ]);
    const all = [service.api, ...service.workers].map((each) => each.output()).join('');
    expect(all).not.toContain('lighthouses');
  });

  test('are not filled by what runs by the clock', () => {
    expect(linesOf(service.workers[2]).map(({ msg }) => msg)).toEqual(['worker started']);
    expect(linesOf(service.api).some(({ msg }) => msg.includes('/health'))).toBe(false);
  });
});

describe('/health/ready', () => {
  const ready = async () => {
    const response = await fetch(`${service.url}/health/ready`);
    return {
      status: response.status,
      body: (await response.json()) as { components: Record<string, string> },
    };
  };
  const all = {
    redis: 'ready',
    index: 'ready',
    storage: 'ready',
    'worker-ingestion': 'ready',
    'worker-embedding': 'ready',
    'worker-cache': 'ready',
    'worker-usage': 'ready',
    'worker-maintenance': 'ready',
  };

  /** The free bytes on the disk of the data folder, and the bytes that stay free there. */
  const disks = { data: { free_bytes: expect.any(Number), least_bytes: 512 * 2 ** 20 } };

  const builtin = { kind: 'builtin', address: null, state: 'unasked', problem: null };
  const models = {
    embedder: expect.objectContaining(builtin),
    completer: expect.objectContaining(builtin),
    reranker: expect.objectContaining({ kind: 'none', model: null }),
  };

  test('names every component, and tells how much is left on the disk', async () => {
    expect(await ready()).toEqual({ status: 200, body: { status: 'ready', components: all, disks, models } });
  });

  test('misses a worker that was killed, until another serves its queue', async () => {
    await service.workers[1]?.kill('SIGKILL');
    await until(async () => (await ready()).status !== 200);
    const components = { ...all, 'worker-embedding': 'unavailable' };
    expect(await ready()).toEqual({ status: 503, body: { status: 'not_ready', components, disks, models } });
    service.workers[1] = service.startWorker(embedding);
    service.workers.pop();
    await service.untilReady();
  });

  test('misses a storage that is gone', async () => {
    const [here, gone] = [join(service.dataDirectory, 'objects'), join(service.dataDirectory, 'gone')];
    await rename(here, gone);
    await until(async () => (await ready()).status === 503);
    expect((await ready()).body.components).toEqual({ ...all, storage: 'unavailable' });
    await rename(gone, here);
    await service.untilReady();
  });
});

describe('a worker that is asked to stop', () => {
  test('hands back what it cannot finish in time, and ends with 0', async () => {
    const [first] = service.workers;
    if (!first) throw new Error('no worker');
    await freezeParser(first);
    const { status, id } = await ingest(long('A sentence that takes for ever.'), { Prefer: 'respond-async' });
    expect(status).toBe(202);
    await until(async () => (await statusOf(id)).stage === 'parsing');
    const started = Date.now();
    await first.kill('SIGTERM');
    // It has a second for that; after 35 of them it would be killed.
    expect(Date.now() - started).toBeLessThan(17_000);
    expect(first.child.exitCode).toBe(0);
    expect(['queued', 'processing']).toContain((await statusOf(id)).status);
    expect(linesOf(first).map(({ msg }) => msg)).toContain('job put off');
    service.workers[0] = service.startWorker(ingestion);
    service.workers.pop();
    await untilCompleted(id);
  });
});

describe('workers and the API that are asked to stop', () => {
  let soonDone = '';

  test('finish what they can', async () => {
    ({ id: soonDone } = await ingest('Only a sentence, soon done.', { Prefer: 'respond-async' }));
    const [first, second] = service.workers;
    await Promise.all([first?.kill('SIGTERM'), second?.kill('SIGTERM')]);
    expect([first?.child.exitCode, second?.child.exitCode]).toEqual([0, 0]);
  });

  test('answer at once those who wait for their documents, and end with 0', async () => {
    const pending = ingest('Nobody is there to read this sentence.', { Prefer: 'wait=100' });
    await until(async () => {
      const response = await fetch(`${service.url}/documents?limit=1`);
      const [newest] = (await response.json()) as {
        external_id: string;
        system_metadata: { status: string };
      }[];
      return newest?.external_id !== soonDone && newest?.system_metadata.status === 'queued';
    });
    const started = Date.now();
    await service.api.kill('SIGTERM');
    // They would have waited for a hundred seconds.
    expect(Date.now() - started).toBeLessThan(17_000);
    expect(service.api.child.exitCode).toBe(0);
    const { status, id } = await pending;
    expect(status).toBe(202);
    service.workers[0] = service.startWorker(ingestion);
    service.workers[1] = service.startWorker(embedding);
    service.workers.splice(3);
    await service.startApi();
    await service.untilReady();
    for (const each of [soonDone, id]) await untilCompleted(each);
  });
});

async function untilCompleted(id: string): Promise<void> {
  await until(async () => (await statusOf(id)).status === 'completed');
}
