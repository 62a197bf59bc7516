import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { heronText } from '../support/reranked.js';
import { EVERYDAY, RERANKING } from '../support/shared/environments.js';
import { useFakeReranker } from '../support/shared/use-fake-reranker.js';
import { useService } from '../support/shared/use-service.js';

const run = promisify(execFile);
const documents = [0.1, 0.9, 0.5].map((relevance, number) => heronText(number, relevance));
const results = [
  { index: 1, relevance_score: 0.9 },
  { index: 2, relevance_score: 0.5 },
];

describe('with a reranker', () => {
  const provider = useFakeReranker({ apiKey: RERANKING.env.RERANKER_API_KEY });
  const service = useService({ ...RERANKING, provider });
  const rerank = (body: unknown, permissions?: readonly string[]) =>
    service.client('reranker', permissions).post<{ readonly message?: string }>('/v2/rerank', body);

  test('texts are ordered, and counted as one operation', async () => {
    const { status, body } = await rerank({ model: 'any', query: 'heron', documents, top_n: 2 });
    expect([status, body]).toMatchObject([200, { results, meta: { api_version: { version: '2' } } }]);
    const recent = await service.client('reranker').get('/usage/recent?operation_type=rerank&limit=1');
    expect(recent.body).toMatchObject([{ status: 'success', metadata: { query: 'heron', documents: 3 } }]);
  });

  test.each([
    [{ documents }, 422, /query/],
    [{ query: 'heron', documents: [] }, 422, /documents/],
    [{ query: 'heron', documents: [7] }, 422, /documents\[0\]/],
    [{ query: 'heron', documents: Array.from({ length: 1_001 }, () => 'a') }, 422, /documents/],
    [{ query: 'heron', documents: ['a'.repeat(2_000_001)] }, 422, /documents/],
    [{ query: 'heron', documents, top_n: 0 }, 422, /top_n/],
  ])('errors have the form that clients print: %#', async (sent, status, message) => {
    const refused = await rerank(sent);
    expect(refused.status).toBe(status);
    expect(refused.body).toEqual({ message: expect.stringMatching(message) });
  });

  test('a provider that is away is a 503, and a caller who may not read a 403', async () => {
    expect((await rerank({ query: 'heron', documents }, ['write'])).status).toBe(403);
    provider.configure({ status: 500 });
    const { status, body } = await rerank({ query: 'heron', documents });
    expect([status, body]).toEqual([503, { message: 'reranking provider is unavailable' }]);
  });

  const python = process.env['QUIRE_TEST_COHERE_PYTHON'];
  if (python === undefined)
    test.skip('the client for Python is not here: QUIRE_TEST_COHERE_PYTHON names none', () => undefined);
  else
    test("Cohere's client for Python reads the results and the errors", async () => {
      const program = join(import.meta.dirname, '../support/openai-clients/cohere-rerank.py');
      const key = service.client('python').authorization.replace('Bearer ', '');
      const { stdout } = await run(python, [program, service.url, key, 'heron', ...documents]);
      expect(JSON.parse(stdout)).toMatchObject({
        results,
        failure: { status: 422, body: { message: expect.stringContaining('query') } },
      });
    });
});

describe('without a reranker', () => {
  const service = useService({ env: EVERYDAY });

  test('the answer is a 404 that says which setting is missing', async () => {
    const { status, body } = await service
      .client('reranker')
      .post('/v2/rerank', { query: 'heron', documents });
    expect([status, body]).toEqual([404, { message: expect.stringContaining('`reranker`') }]);
  });
});
