import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, type Service } from '../support/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
}, 60_000);

afterAll(async () => {
  await service.stop();
});

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

describe('the whole service', () => {
  test('answers from a text that was put in a moment ago', async () => {
    const ingested = await post('/ingest/text', {
      content: 'Gutenberg printed the first Bible with movable type in Mainz.',
      metadata: { topic: 'printing' },
    });
    expect(ingested.status).toBe(200);
    expect(ingested.body).toMatchObject({ system_metadata: { status: 'completed', version: 1 } });
    const found = await post('/retrieve/chunks', { query: 'Who printed with movable type?' });
    expect(found).toMatchObject({ status: 200, body: [{ document_id: ingested.body.external_id, chunk_number: 0 }] });
    const answer = await post('/query', { query: 'Where was the first Bible printed?' });
    expect(answer.body.completion).toContain('Mainz');
    expect(answer.body.sources).toEqual([
      { document_id: ingested.body.external_id, chunk_number: 0, score: expect.any(Number) },
    ]);
    const stats = await (await fetch(`${service.url}/usage/stats`)).json();
    expect(stats).toEqual({ ingest_text: 1, retrieve_chunks: 1, query: 1 });
  });

  test('a cache answers from its documents', async () => {
    const { body: document } = await post('/ingest/text', { content: 'The cellar holds nine barrels of cider.' });
    const config = { name: 'cellar', model: 'm', gguf_file: 'f.gguf', docs: [document.external_id] };
    const created = await post('/cache/create', config);
    expect(created).toMatchObject({ status: 200, body: { name: 'cellar', doc_count: 1, success: true, status: 'ready' } });
    const answer = await post('/cache/cellar/query', { query: 'How many barrels of cider?' });
    expect(answer).toMatchObject({ status: 200, body: { finish_reason: 'stop' } });
    expect(answer.body.completion).toContain('nine barrels');
  });
});
