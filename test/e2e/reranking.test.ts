import { describe, expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { streamQuery } from '../support/event-stream.js';
import { describeWithQueryEngine } from '../support/query-engine.js';
import {
  heronText,
  ingestHerons,
  rerankHeader,
  RERANKED_PATHS,
  searchReranked,
  type UsageRecord,
} from '../support/reranked.js';
import type { Detailed } from '../support/search-details.js';
import { RERANKING } from '../support/shared/environments.js';
import { useFakeReranker } from '../support/shared/use-fake-reranker.js';
import { useService } from '../support/shared/use-service.js';

interface FoundDocument {
  readonly document_id: string;
  readonly score: number;
}
interface Answer {
  readonly completion: string;
  readonly sources: readonly { document_id: string; chunk_number: number; score: number }[];
}
const provider = useFakeReranker({ apiKey: RERANKING.env.RERANKER_API_KEY });

const scoresOf = (found: readonly { readonly score: number }[]) => found.map(({ score }) => score);
const documents = (client: Client, more: Record<string, unknown> = {}) =>
  client.post<FoundDocument[]>('/retrieve/docs', { query: 'heron', rerank: true, ...more });

describe('on the exact index', () => {
  describeReranking({ onQueryEngine: false });
});
describeWithQueryEngine('on the Query Engine', () => {
  describeReranking({ onQueryEngine: true });
});

function describeReranking({ onQueryEngine }: { readonly onQueryEngine: boolean }): void {
  const service = useService({ ...RERANKING, onQueryEngine, provider });
  const user = service.client;

  test('an explanation names the new score, and the parts of the first one', async () => {
    const client = user('explained');
    await ingestHerons(client, [0.1, 0.7]);
    const { body, headers } = await client.post<Detailed[]>('/retrieve/chunks', {
      query: 'heron number1',
      rerank: true,
      explain: true,
      context: {},
    });
    expect(scoresOf(body)).toEqual([0.7, 0.1]);
    expect(headers.get('server-timing')).toMatch(/rerank;dur=/);
    for (const { score, explanation, matches } of body) {
      const terms = explanation?.words?.terms ?? [];
      expect([explanation?.reranked, matches?.map((each) => each.score)]).toEqual([score, [score]]);
      expect(terms.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(
        explanation?.score ?? Number.NaN,
        6,
      );
    }
  });

  test('the best by their new scores come first, at most as many as are asked for', async () => {
    const client = user('order');
    const ids = await ingestHerons(client, [0.1, 0.7, 0.3, 0.9, 0.5]);
    const found = await searchReranked(client);
    expect([found.status, rerankHeader(found), scoresOf(found.body)]).toEqual([
      200,
      'applied',
      [0.9, 0.7, 0.5, 0.3],
    ]);
    expect(found.body.map(({ document_id: id }) => id)).toEqual([ids[3], ids[1], ids[4], ids[2]]);
    expect(scoresOf((await searchReranked(client, { rerank: { top_n: 2 } })).body)).toEqual([0.9, 0.7]);
    expect(scoresOf((await searchReranked(client, { rerank: {}, k: 1 })).body)).toEqual([0.9]);
    expect(scoresOf((await searchReranked(client, { rerank: { top_n: null }, k: 9 })).body)).toHaveLength(5);
    expect(scoresOf((await searchReranked(client, { min_score: 0.5 })).body)).toEqual([0.9, 0.7, 0.5]);
    const plain = await searchReranked(client, { rerank: false });
    expect([rerankHeader(plain), plain.body.map(({ document_id: id }) => id)]).toEqual([
      null,
      ids.slice(0, 4),
    ]);
    const whole = await documents(client, { rerank: { top_n: 3 } });
    expect([rerankHeader(whole), scoresOf(whole.body)]).toEqual(['applied', [0.9, 0.7, 0.5]]);
    expect((await documents(client, { min_score: 0.8 })).body).toMatchObject([{ document_id: ids[3] }]);
  });

  test('as many candidates as the setting says are sent, in batches, with the key', async () => {
    const client = user('batches');
    await ingestHerons(
      client,
      Array.from({ length: 10 }, (_, i) => i / 10),
    );
    // Eight of ten are candidates.
    expect(scoresOf((await searchReranked(client)).body)).toEqual([0.7, 0.6, 0.5, 0.4]);
    expect(provider.requests.map(({ documents: sent }) => sent.length).sort()).toEqual([3, 5]);
    expect(provider.requests[0]).toMatchObject({ query: 'heron', body: { model: 'rerank-v3.5' } });
    expect(scoresOf((await searchReranked(client, { k: 10 })).body)).toHaveLength(10);
  });

  test('sources of a query come in that order, and its header before its first event', async () => {
    const client = user('query');
    const ids = await ingestHerons(client, [0.1, 0.7, 0.3]);
    const asked = { query: 'Which heron?', k: 2, rerank: true };
    const whole = await client.post<Answer>('/query', asked);
    expect([whole.status, rerankHeader(whole), scoresOf(whole.body.sources)]).toEqual([
      200,
      'applied',
      [0.7, 0.3],
    ]);
    expect(whole.body.sources[0]?.document_id).toBe(ids[1]);
    const streamed = await streamQuery(service.url, client, asked);
    expect(streamed.headers.get('quire-rerank')).toBe('applied');
    expect(streamed.events.at(-1)?.data['sources']).toEqual(whole.body.sources);
    provider.configure({ status: 500 });
    const failed = await streamQuery(service.url, client, { ...asked, min_score: 0.01 });
    expect([failed.status, failed.headers.get('quire-rerank')]).toEqual([200, 'skipped; reason=unavailable']);
    expect(failed.events.at(-1)?.data['sources']).toMatchObject([
      { document_id: ids[0] },
      { document_id: ids[1] },
    ]);
    const { body } = await client.get<UsageRecord[]>('/usage/recent');
    expect(
      body.filter(({ operation_type: type }) => type === 'query').map(({ metadata }) => metadata['reranked']),
    ).toEqual([false, true, true]);
  });

  test('the text of a neighbour never goes to the provider', async () => {
    const [client, neighbour] = [user('reader'), user('neighbour')];
    await ingestHerons(neighbour, [0.9, 0.8]);
    await ingestHerons(client, [0.4]);
    for (const path of RERANKED_PATHS) await client.post(path, { query: 'heron', k: 100, rerank: true });
    expect(provider.requests).toHaveLength(3);
    expect(new Set(provider.requests.flatMap(({ documents: sent }) => sent))).toEqual(
      new Set([heronText(0, 0.4)]),
    );
  });

  test('what is closed while the provider answers is in no answer', async () => {
    const owner = user('closing');
    const reader = user('shut-out');
    for (const path of RERANKED_PATHS) {
      const shared = { access_control: { readers: [service.caller('shut-out')] } };
      const { body: closed } = await owner.ingestText(`${heronText(0, 0.9)} of ${path}`, shared);
      const { body: open } = await owner.ingestText(`${heronText(3, 0.2)} of ${path}`, shared);
      provider.configure({
        onRequest: async () => {
          const change = { access_control: { readers: [] } };
          expect((await owner.patch(`/documents/${closed.external_id}`, change)).status).toBe(200);
        },
      });
      const filters = { external_id: { $in: [closed.external_id, open.external_id] } };
      const reply = await reader.post<unknown>(path, { query: 'heron', filters, rerank: true });
      expect(provider.requests.at(-1)?.documents.join()).toContain('relevance 0.9');
      expect([path, reply.status, rerankHeader(reply)]).toEqual([path, 200, 'applied']);
      const said = JSON.stringify(reply.body);
      expect(said).not.toContain(closed.external_id);
      expect(said).not.toContain('0.9');
      expect(said).toContain(open.external_id);
      provider.reset();
    }
  });

  test('tokens of reranking are in the records, next to those of the request, and no content is', async () => {
    const client = user('usage');
    await ingestHerons(client, [0.1, 0.7]);
    provider.configure({ tokens: 100 });
    const plain = await searchReranked(client, { rerank: false });
    expect(plain.status).toBe(200);
    for (const path of RERANKED_PATHS)
      expect((await client.post(path, { query: 'heron', rerank: true })).status).toBe(200);
    const { body } = await client.get<UsageRecord[]>('/usage/recent');
    const [query, whole, chunks, unreranked] = body;
    expect(body.map(({ operation_type: type }) => type).slice(0, 4)).toEqual([
      'query',
      'retrieve_docs',
      'retrieve_chunks',
      'retrieve_chunks',
    ]);
    expect(unreranked?.metadata).not.toHaveProperty('reranked');
    for (const each of [query, whole, chunks]) {
      expect(each?.metadata).toMatchObject({ reranked: true, rerank_tokens: 200, query: 'heron' });
      expect(each?.tokens_used).toBeGreaterThan(200);
      expect(JSON.stringify(each)).not.toContain('relevance');
    }
    expect(chunks?.tokens_used).toBe(200 + (unreranked?.tokens_used ?? 0));
    expect(whole?.tokens_used).toBe(chunks?.tokens_used);
    expect((await client.get('/usage/stats')).body).toMatchObject({
      retrieve_chunks: 2,
      retrieve_docs: 1,
      query: 1,
    });
  });
}
