import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { startFakeOpenAI, type FakeOpenAI } from '../support/fake-openai.js';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let provider: FakeOpenAI;
let collector: OtlpReceiver;
let service: Service;

const withProvider = () => ({
  QUIRE_EMBEDDER: 'openai',
  QUIRE_EMBEDDING_BASE_URL: provider.url,
  QUIRE_COMPLETER: 'openai',
  QUIRE_COMPLETION_BASE_URL: provider.url,
});

beforeAll(async () => {
  provider = await startFakeOpenAI();
  collector = await startOtlpReceiver();
  service = await startService({
    env: {
      ...withProvider(),
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
      OTEL_SERVICE_NAME: 'quire-of-tests',
      QUIRE_TRACES_TO_PROVIDERS: 'true',
    },
  });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([collector.stop(), provider.stop()]);
});

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const names = (spans: readonly ReceivedSpan[]) => new Set(spans.map(({ name }) => name));

/** The spans of the trace that a request began, once the last one named is there. */
async function traceOf(requestId: string, last: string): Promise<ReceivedSpan[]> {
  let found: ReceivedSpan[] = [];
  await until(() => {
    const root = collector.spans.find(({ attributes }) => attributes['quire.request_id'] === requestId);
    found = root ? spansOf(root.traceId) : [];
    return found.some(({ name }) => name === last);
  });
  return found;
}

const attributesOf = (spans: readonly ReceivedSpan[], name: string) =>
  spans.find((span) => span.name === name)?.attributes;

describe('with a collector of traces', () => {
  test('the ingest of a file is one trace, from the request through the queues to the worker and the provider', async () => {
    const client = createClient(service.url, 'traced');
    const bytes = Buffer.from('# Quinces\n\nA secret-word of a file.');
    const reply = await client.ingestFile(bytes, 'secret-name.md', { 'X-Request-Id': 'traced-file' });
    expect(reply.status).toBe(200);
    const spans = await traceOf('traced-file', 'publish');
    const root = spans.filter(({ parentSpanId }) => parentSpanId === null);
    expect(root).toHaveLength(1);
    expect(root[0]).toMatchObject({
      name: 'POST /ingest/file',
      kind: 2,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/ingest/file',
        'http.response.status_code': 200,
      },
      resource: { 'service.name': 'quire-of-tests', 'quire.process': 'api' },
    });
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(spans.filter(({ parentSpanId }) => parentSpanId !== null && !ids.has(parentSpanId))).toEqual([]);
    expect([...names(spans)]).toEqual(
      expect.arrayContaining([
        'receive',
        'send ingestion-quick',
        'queue wait',
        'process ingestion-quick',
        'parse',
        'send embedding',
        'process embedding',
        'embed',
        'embeddings openai:text-embedding-3-small',
        'publish',
        'wait for document',
      ]),
    );
    expect(attributesOf(spans, 'process ingestion-quick')).toMatchObject({
      'messaging.system': 'bullmq',
      'messaging.destination.name': 'ingestion-quick',
      'quire.job.attempt': 1,
      'quire.job.outcome': 'done',
    });
    const processes = new Set(spans.map(({ resource }) => resource['quire.process']));
    expect(processes.size).toBe(2);
    const asked = spans.find(({ name }) => name.startsWith('embeddings'));
    expect(provider.requests.map(({ traceparent }) => traceparent)).toContain(
      `00-${asked?.traceId ?? ''}-${asked?.spanId ?? ''}-01`,
    );
  });

  test('a question is one trace with its searches and the provider, and tells nothing that was asked or found', async () => {
    const client = createClient(service.url, 'asking');
    await client.ingestText('A secret-word about medlars.', { filename: 'secret-name.txt' });
    const asked = { query: 'secret-question medlars' };
    const reply = await client.post('/query', asked, { 'X-Request-Id': 'traced-query' });
    expect(reply.status).toBe(200);
    const spans = await traceOf('traced-query', 'POST /query');
    expect([...names(spans)]).toEqual(
      expect.arrayContaining([
        'receive',
        'search index',
        'read hits',
        'embeddings openai:text-embedding-3-small',
      ]),
    );
    const chat = spans.find(({ name }) => name.startsWith('chat openai:'));
    expect(chat?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
    });
    expect(chat?.attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
    const sent = provider.requests.findLast(({ path }) => path.endsWith('/chat/completions'));
    expect(sent?.traceparent).toContain(chat?.traceId);
    expect(collector.text()).not.toMatch(/secret-(?:word|name|question)/);
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: 'Bearer of-the-collector' },
    });
  });

  test('texts that are stored together by several requests have a job that is linked to all of their traces', async () => {
    const client = createClient(service.url, 'together');
    const ids = Array.from({ length: 12 }, (_, i) => `together-${String(i)}`);
    await Promise.all(
      ids.map((id) => client.post('/ingest/text', { content: `About ${id}.` }, { 'X-Request-Id': id })),
    );
    await until(() =>
      ids.every((id) => collector.spans.some(({ attributes }) => attributes['quire.request_id'] === id)),
    );
    const traces = collector.spans.filter(({ attributes }) =>
      ids.includes(String(attributes['quire.request_id'])),
    );
    const ofThem = new Set(traces.map(({ traceId }) => traceId));
    expect(ofThem.size).toBe(ids.length);
    const sent = collector.spans.filter(
      ({ name, traceId }) => name.startsWith('send ingestion') && ofThem.has(traceId),
    );
    const reached = new Set(
      sent.flatMap(({ traceId, links }) => [traceId, ...links.map((link) => link.traceId)]),
    );
    expect([...ofThem].filter((each) => !reached.has(each))).toEqual([]);
    expect(sent.some(({ links }) => links.length > 0)).toBe(true);
  });

  test("a caller's traceparent is referred to, and decides neither the trace nor whether it is kept", async () => {
    const client = createClient(service.url, 'calling');
    const theirs = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${theirs}-00f067aa0ba902b7-00`, 'X-Request-Id': 'with-parent' };
    await client.post('/retrieve/chunks', { query: 'anything' }, headers);
    const spans = await traceOf('with-parent', 'POST /retrieve/chunks');
    const root = spans.find(({ parentSpanId }) => parentSpanId === null);
    expect(root?.traceId).not.toBe(theirs);
    expect(root?.links).toEqual([expect.objectContaining({ traceId: theirs, spanId: '00f067aa0ba902b7' })]);
  });

  test('the lines of the log name the trace', async () => {
    const spans = await traceOf('traced-query', 'POST /query');
    await until(() => service.api.output().includes('"requestId":"traced-query"'));
    const line = service.api
      .output()
      .split('\n')
      .find((each) => each.includes('"requestId":"traced-query"'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ trace_id: spans[0]?.traceId });
    const ofWorkers = service.workers.flatMap((worker) => worker.output().split('\n'));
    const finished = ofWorkers.filter((each) => each.includes('"job finished"'));
    expect(finished.length).toBeGreaterThan(0);
    expect(finished.filter((each) => !/"trace_id":"[0-9a-f]{32}"/.test(each))).toEqual([]);
  });

  test('the metrics of a request name its trace in OpenMetrics, and are as ever in the text format', async () => {
    const spans = await traceOf('traced-query', 'POST /query');
    const page = async (accept: string) => {
      const response = await fetch(`${service.url}/metrics`, { headers: { accept } });
      return { type: response.headers.get('content-type'), text: await response.text() };
    };
    const open = await page(
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.1',
    );
    expect(open.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(open.text).toMatch(/\n# EOF\n$/);
    expect(open.text).toMatch(/^# TYPE quire_jobs counter$/m);
    expect(open.text).toMatch(/^quire_jobs_total\{.+\} \d+$/m);
    const exemplar = open.text.split('\n').find((line) => line.includes(spans[0]?.traceId ?? 'none'));
    expect(exemplar).toMatch(
      /^quire_http_request_duration_seconds_bucket\{.*route="\/query".*\} \d+ # \{trace_id="[0-9a-f]{32}",span_id="[0-9a-f]{16}"\} [\d.]+ [\d.]+$/,
    );
    for (const accept of ['*/*', 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1', 'text/html']) {
      const plain = await page(accept);
      expect(plain.type).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(plain.text).toMatch(/^# TYPE quire_jobs_total counter$/m);
      expect(plain.text).not.toContain('trace_id');
    }
  });

  test('what failed is marked as failed', async () => {
    provider.configure({ failures: Array.from({ length: 20 }, () => ({ status: 503 })) });
    const client = createClient(service.url, 'failing');
    const reply = await client.post(
      '/retrieve/chunks',
      { query: 'unseen before', ranking: 'semantic' },
      {
        'X-Request-Id': 'failing-search',
      },
    );
    provider.reset();
    expect(reply.status).toBe(503);
    const spans = await traceOf('failing-search', 'POST /retrieve/chunks');
    const failed = spans.filter(({ isError }) => isError).map(({ name }) => name);
    expect(failed).toEqual(expect.arrayContaining(['POST /retrieve/chunks', 'search index']));
    expect(attributesOf(spans, 'search index')).toMatchObject({ 'error.type': 'UnavailableError' });
  });
});

describe('with local models', () => {
  let models: ModelsProcess;
  let local: Service;
  beforeAll(async () => {
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    models = await startModels(traces);
    await models.write('chat.gguf', { kind: 'chat' });
    local = await startService({
      env: {
        ...models.env,
        ...traces,
        QUIRE_COMPLETER: 'local',
        QUIRE_COMPLETION_MODEL: 'chat.gguf',
        QUIRE_COMPLETION_MAX_TOKENS: '4',
      },
    });
  });
  afterAll(async () => {
    await local.stop();
    await models.stop();
  });

  test('a question goes on in the process with the model: its loading and the wait for a conversation', async () => {
    const client = createClient(local.url, 'asking-local');
    await client.ingestText('A secret-word about quinces.');
    const headers = { 'X-Request-Id': 'traced-local' };
    const reply = await client.post('/query', { query: 'secret-question quinces' }, headers);
    expect(reply.status).toBe(200);
    const spans = await traceOf('traced-local', 'load model');
    await until(() => names(spansOf(spans[0]?.traceId ?? '')).has('POST /v1/chat'));
    const all = spansOf(spans[0]?.traceId ?? '');
    const asked = all.find(({ name }) => name.startsWith('chat local:'));
    const answered = all.find(({ name }) => name === 'POST /v1/chat');
    expect(answered).toMatchObject({
      parentSpanId: asked?.spanId,
      kind: 2,
      attributes: { 'http.response.status_code': 200 },
      resource: { 'quire.process': 'models' },
    });
    for (const name of ['load model', 'wait for conversation'])
      expect(all.find((each) => each.name === name)).toMatchObject({ parentSpanId: answered?.spanId });
    expect(collector.text()).not.toMatch(/secret-(?:word|question)/);
  });
});
