import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createMetricsBuffer,
  readWorkerMetrics,
  type MetricsBuffer,
} from '../../../src/shared/observability/worker-metrics.js';
import { renderFamilies } from '../../../src/shared/observability/prometheus.js';
import { createRedis, type Redis } from '../../../src/shared/redis/client.js';
import { startRedisProxy } from '../../support/redis-proxy.js';
import { startTestRedis, type TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

let server: TestRedis;
let redis: Redis;
const open: MetricsBuffer[] = [];
const clients: Redis[] = [];

beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
});

beforeEach(async () => {
  await redis.flushAll();
});

afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  for (const client of clients) if (client.isOpen) client.destroy();
  await redis.close();
  await server.stop();
});

function buffer(client: Redis = redis, everyMilliseconds = 3_600_000): MetricsBuffer {
  const made = createMetricsBuffer(client, { everyMilliseconds, onError: () => undefined });
  open.push(made);
  return made;
}

/** A connection that does not wait for a Redis that is away. */
async function connect(url = server.url): Promise<Redis> {
  const client = createRedis(url, { failFast: true, onError: () => undefined });
  clients.push(client);
  await client.connect();
  return client;
}

const shown = async () => renderFamilies(await readWorkerMetrics(redis));
const job = { queue: 'ingestion', job: 'ingest', outcome: 'done' };
const jobLabels = 'queue="ingestion",job="ingest",outcome="done"';

describe('what workers measure', () => {
  test('adds up over workers and over restarts', async () => {
    const [first, second] = [buffer(), buffer()];
    first.add('quire_embedded_chunks_total', {}, 3);
    first.add('quire_embedded_chunks_total', {}, 4);
    second.add('quire_embedded_chunks_total', {}, 5);
    await Promise.all([first.flush(), second.close()]);
    const restarted = buffer();
    restarted.add('quire_embedded_chunks_total', {});
    await restarted.flush();
    await first.flush();
    expect(await shown()).toContain('\nquire_embedded_chunks_total 13\n');
  });

  test('shows durations as a cumulative histogram', async () => {
    const metrics = buffer();
    for (const seconds of [0.004, 0.3, 0.4, 500]) metrics.observe('quire_job_duration_seconds', job, seconds);
    await metrics.flush();
    const text = await shown();
    expect(text).toContain('# TYPE quire_job_duration_seconds histogram\n');
    for (const [le, count] of [
      ['0.005', 1],
      ['0.25', 1],
      ['0.5', 3],
      ['120', 3],
      ['+Inf', 4],
    ] as const) {
      expect(text).toContain(`quire_job_duration_seconds_bucket{${jobLabels},le="${le}"} ${String(count)}\n`);
    }
    expect(text).toContain(`quire_job_duration_seconds_count{${jobLabels}} 4\n`);
    expect(text).toMatch(/quire_job_duration_seconds_sum\{[^}]+\} 500\.70/);
  });

  test('is sent by itself', async () => {
    const metrics = buffer(redis, 20);
    metrics.add('quire_jobs_total', job);
    await until(async () => (await shown()).includes(`quire_jobs_total{${jobLabels}} 1\n`));
  });

  test('is kept while Redis is away, and sent once it is back', async () => {
    const client = await connect();
    const metrics = buffer(client);
    metrics.add('quire_ingested_documents_total', {}, 2);
    await server.crash();
    await expect(metrics.flush()).rejects.toThrow();
    metrics.add('quire_ingested_documents_total', {}, 5);
    await server.start();
    await until(() => client.isReady);
    await metrics.flush();
    await until(async () => (await shown()).includes('\nquire_ingested_documents_total 7\n'));
  });

  test('counts once though the answer to a flush was lost', async () => {
    const proxy = await startRedisProxy(server.port);
    const client = await connect(proxy.url);
    const metrics = buffer(client);
    metrics.add('quire_ingested_documents_total', {}, 2);
    await metrics.flush();
    // The server does as it is told, and the connection breaks before it can say so.
    proxy.cutAtNextReply();
    metrics.add('quire_ingested_documents_total', {}, 3);
    await expect(metrics.flush()).rejects.toThrow();
    await until(async () => (await shown()).includes('\nquire_ingested_documents_total 5\n'));
    metrics.add('quire_ingested_documents_total', {}, 4);
    await until(() => client.isReady);
    await metrics.flush();
    expect(await shown()).toContain('\nquire_ingested_documents_total 9\n');
    client.destroy();
    await proxy.close();
  });
});
