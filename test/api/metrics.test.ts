import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openQueue } from '../../src/shared/queues/lanes.js';
import { makeToken, SECRET } from '../support/api.js';
import { ask } from '../support/ask.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
const TOKEN = 'a-token-for-the-scraper';

beforeAll(async () => {
  service = await startService({
    env: { QUIRE_DEV_MODE: 'false', JWT_SECRET_KEY: SECRET, QUIRE_METRICS_TOKEN: TOKEN },
  });
});

afterAll(async () => {
  await service.stop();
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const scrape = () => ask(`${service.url}/metrics`, { headers: bearer(TOKEN) });

/** The value of a series as it is written; undefined when there is none. */
async function value(series: string): Promise<number | undefined> {
  const { text } = await scrape();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

async function ingest(content: string): Promise<Response> {
  return fetch(`${service.url}/ingest/text`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...bearer(makeToken()) },
    body: JSON.stringify({ content }),
  });
}

async function ingestEmptyFile(): Promise<number> {
  const body = new FormData();
  body.set('file', new Blob(['  ']), 'blank.txt');
  const headers = bearer(makeToken());
  return (await fetch(`${service.url}/ingest/file`, { method: 'POST', headers, body })).status;
}

describe('/metrics', () => {
  test('opens to the scrape token and to admin tokens', async () => {
    const status = async (headers: Record<string, string>) =>
      (await ask(`${service.url}/metrics`, { headers })).status;
    expect(await status({})).toBe(401);
    expect(await status(bearer('wrong'))).toBe(401);
    expect(await status(bearer(makeToken()))).toBe(403);
    expect(await status(bearer(makeToken({ permissions: ['admin'] })))).toBe(200);
    expect(await status(bearer(TOKEN))).toBe(200);
    expect((await ask(`${service.url}/documents`, { headers: bearer(TOKEN) })).status).toBe(401);
    expect((await ask(`${service.url}/admin/queues`, { headers: bearer(TOKEN) })).status).toBe(401);
    const post = await ask(`${service.url}/metrics`, { method: 'POST', headers: bearer(TOKEN) });
    expect(post).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  test('is Prometheus text throughout', async () => {
    await ingest('To have something to show.');
    const { headers, text } = await scrape();
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const typed = new Set<string>();
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const type = /^# TYPE ([a-z0-9_]+) (counter|gauge|histogram|summary)$/.exec(line);
      if (type?.[1] !== undefined) {
        expect(typed.has(type[1])).toBe(false);
        typed.add(type[1]);
      } else if (!/^# HELP [a-z0-9_]+ \S/.test(line)) {
        const sample = /^([a-z0-9_]+)(\{(?:[a-z_]+="[^"\\\n]*",?)+\})? (?:-?[\d.]+(?:e[+-]?\d+)?|NaN)$/.exec(
          line,
        );
        expect([line, sample]).toEqual([line, expect.anything()]);
        const name = sample?.[1] ?? '';
        expect(typed.has(name) || typed.has(name.replace(/_(bucket|sum|count)$/, ''))).toBe(true);
      }
    }
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds ');
    expect(text).toContain('process_resident_memory_bytes ');
    expect(text).toContain('quire_index_ready{engine="exact"} 1\n');
    expect(text).toContain('quire_redis_up 1\n');
    expect(text).toContain('quire_worker_seen{queue="embedding"} 1\n');
  });

  test('counts requests by the pattern of their route', async () => {
    const id = randomUUID();
    const series = 'quire_http_request_duration_seconds_count';
    await ask(`${service.url}/documents/${id}?filters=${id}`, { headers: bearer(makeToken()) });
    await ask(`${service.url}/${id}`);
    await ask(`${service.url}/documents`, { method: 'PURGE' });
    await until(async () => (await value(`${series}{method="other",route="none",status="4xx"}`)) === 1);
    expect(await value(`${series}{method="GET",route="/documents/{document_id}",status="4xx"}`)).toBe(1);
    expect(await value(`${series}{method="GET",route="none",status="4xx"}`)).toBe(1);
    expect((await scrape()).text).not.toContain(id);
  });

  test('shows how long jobs have been waiting', async () => {
    const queue = openQueue('cache', { url: service.redis.url });
    await queue.pause();
    const data = { ownerId: 'alice', name: 'none', build: 'none', requestId: 'none' };
    await queue.add('build', data, { timestamp: Date.now() - 60_000 });
    await queue.add('build', data);
    await until(async () => (await value('quire_queue_jobs{queue="cache",state="waiting"}')) === 2);
    expect(await value('quire_queue_oldest_waiting_seconds{queue="cache"}')).toBeGreaterThan(59);
    await queue.resume();
    await until(async () => (await value('quire_queue_jobs{queue="cache",state="waiting"}')) === 0);
    expect(await value('quire_queue_oldest_waiting_seconds{queue="cache"}')).toBe(0);
    await queue.close();
  });

  test('sums what all workers did, over their restarts', async () => {
    const documents = async () => (await value('quire_ingested_documents_total')) ?? 0;
    await ingest('The first worker makes one.');
    const before = await documents();
    const [first] = service.workers;
    // It may not have sent what it measured last: stopping does.
    await first?.kill('SIGTERM');
    service.startWorker();
    expect((await ingest('The second worker makes one.')).status).toBe(200);
    const failures = 'quire_document_failures_total{code="empty_document"}';
    expect(await ingestEmptyFile()).toBe(400);
    await until(async () => (await value(failures)) === 1);
    await until(async () => (await documents()) >= before + 1);
    const all = await documents();
    const runs = 'quire_job_duration_seconds';
    const ingested = 'queue="ingestion-quick",job="ingest",outcome="published"';
    expect(await value(`quire_jobs_total{${ingested}}`)).toBe(all);
    expect(await value(`${runs}_count{${ingested}}`)).toBe(all);
    expect(await value(`${runs}_bucket{${ingested},le="+Inf"}`)).toBe(all);
    expect(await value(`${runs}_sum{${ingested}}`)).toBeGreaterThan(0);
    expect(await value('quire_embedded_chunks_total')).toBe(all);
    expect(await value('quire_embedded_tokens_total')).toBeGreaterThanOrEqual(4 * all);
    expect(await value('quire_ingested_bytes_total')).toBeGreaterThan(20 * all);
    expect(await value('quire_jobs_total{queue="ingestion-quick",job="ingest",outcome="failed"}')).toBe(1);
    await until(async () => {
      const usage = 'quire_usage_operations_total';
      const done = await value(`${usage}{operation="ingest_text",status="success"}`);
      return done === all && (await value(`${usage}{operation="ingest_file",status="error"}`)) === 1;
    });
  });

  test('says so when Redis is away, and still tells about the process', async () => {
    await service.redis.crash();
    await until(async () => (await value('quire_redis_up')) === 0);
    const { status, text } = await scrape();
    expect(status).toBe(200);
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds ');
    expect(text).not.toContain('quire_queue_jobs{');
    await service.redis.start();
    await until(async () => (await value('quire_redis_up')) === 1);
  });
});
