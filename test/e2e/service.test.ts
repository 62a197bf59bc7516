import { describe, expect, test } from '@jest/globals';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

interface Completion {
  readonly completion: string;
  readonly sources: readonly unknown[];
}

describe('the whole service', () => {
  test('answers from a text that was put in a moment ago', async () => {
    const client = service.client('reader');
    const content = 'Gutenberg printed the first Bible with movable type in Mainz.';
    const { status, body: document } = await client.ingestText(content, { metadata: { topic: 'printing' } });
    expect(status).toBe(200);
    expect(document).toMatchObject({ system_metadata: { status: 'completed', version: 1 } });

    const found = await client.searchChunks('Who printed with movable type?');
    expect(found).toMatchObject({
      status: 200,
      body: [{ document_id: document.external_id, chunk_number: 0 }],
    });

    const { body: answer } = await client.post<Completion>('/query', {
      query: 'Where was the first Bible printed?',
    });
    expect(answer.completion).toContain('Mainz');
    const source = {
      document_id: document.external_id,
      owner: service.caller('reader'),
      chunk_number: 0,
      score: expect.any(Number),
      section: [],
      location: { lines: { first: 1, last: 1 } },
      filename: null,
      title: null,
      text: content,
      quotes: [{ text: content, start: 0, end: content.length, line: 1 }],
      url: `${service.url}/view/${document.external_id}?chunk=0&quote=0-${String(content.length)}`,
      page_url: null,
    };
    expect(answer).toMatchObject({ sources: [source], unsupported: [] });
    expect(answer.sources).toEqual([source]);

    const { body: stats } = await client.get('/usage/stats');
    expect(stats).toEqual({ ingest_text: 1, retrieve_chunks: 1, query: 1 });
  });

  test('an answer that finds nothing by words says how meaning is found', async () => {
    const client = service.client('seeker');
    await client.ingestText('The cellar holds nine barrels of cider.');
    const { body } = await client.post<Completion>('/query', { query: 'Umbrella price?' });
    expect(body).toMatchObject({ finish_reason: 'stop', sources: [] });
    expect(body.completion).toMatch(
      /^Nothing was found .*\n\n.* words alone.* 37 MB .*npx quire models pull/,
    );
  });

  test('a cache answers from its documents', async () => {
    const client = service.client('cellarer');
    const { body: document } = await client.ingestText('The cellar holds nine barrels of cider.');
    const config = { name: 'cellar', model: 'm', gguf_file: 'f.gguf', docs: [document.external_id] };
    const created = await client.post('/cache/create', config);
    const ready = { name: 'cellar', doc_count: 1, success: true, status: 'ready' };
    expect(created).toMatchObject({ status: 200, body: ready });
    const question = { query: 'How many barrels of cider?' };
    const answer = await client.post<Completion>('/cache/cellar/query', question);
    expect(answer).toMatchObject({ status: 200, body: { finish_reason: 'stop' } });
    expect(answer.body.completion).toContain('nine barrels');
  });
});
