import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  createHttpReranker,
  type HttpRerankerOptions,
} from '../../../../src/shared/adapters/http-reranker/http-reranker.js';
import { RerankError, UnavailableError } from '../../../../src/shared/errors.js';
import { startFakeReranker, type FakeReranker } from '../../../support/fake-reranker.js';
import { rejection } from '../../../support/rejection.js';
import type { RerankerFault } from '../../../support/reranker-faults.js';
import { until } from '../../../support/until.js';

let provider: FakeReranker;
beforeAll(async () => {
  provider = await startFakeReranker();
});
afterEach(() => provider.reset());
afterAll(() => provider.stop());

const KEY = 'sk-very-secret';
const create = (more: Partial<HttpRerankerOptions> = {}) =>
  createHttpReranker({
    apiKey: KEY,
    baseUrl: provider.url,
    model: 'fake',
    protocol: 'documents',
    scores: 'probability',
    maxDocuments: 10,
    maxTextTokens: 0,
    ...more,
  });
const TEXTS = ['one relevance 0.1', 'two relevance 0.9', 'a secret of three relevance 0.4'];
const rerank = (more?: Partial<HttpRerankerOptions>) => create(more).rerank('which', TEXTS);

/** Everything that a log line of an error would say. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.name} ${error.message} ${JSON.stringify(error)} ${wordsOf(error.cause)}`;
}

async function failureOf(asked: Promise<unknown>): Promise<RerankError> {
  const error = await rejection(asked);
  if (!(error instanceof RerankError)) throw new Error('it is another error', { cause: error });
  expect(error).toBeInstanceOf(UnavailableError);
  expect(wordsOf(error)).not.toMatch(/secret|which/);
  return error;
}

describe('what is sent', () => {
  test('is the common protocol, which asks for all documents', async () => {
    expect((await rerank()).scores).toEqual([0.1, 0.9, 0.4]);
    expect(provider.requests).toEqual([
      {
        path: '/rerank',
        authorization: `Bearer ${KEY}`,
        query: 'which',
        documents: TEXTS,
        body: { model: 'fake', query: 'which', documents: TEXTS, top_n: 3 },
      },
    ]);
  });

  test('is texts for text-embeddings-inference, and has no header without a key', async () => {
    provider.configure({ protocol: 'texts' });
    const { scores, tokens } = await rerank({ protocol: 'texts', apiKey: null, baseUrl: `${provider.url}/` });
    expect([scores, tokens]).toEqual([[0.1, 0.9, 0.4], null]);
    expect(provider.requests[0]?.body).toEqual({ query: 'which', texts: TEXTS, truncate: true });
    expect(provider.requests[0]?.authorization).toBeUndefined();
  });

  test('are texts that are cut, where there is a limit for them', async () => {
    const long = `relevance 0.3 ${'word '.repeat(1_000)}`;
    await create({ maxTextTokens: 16 }).rerank(long, [long, 'short']);
    const [request] = provider.requests;
    expect(request?.documents[1]).toBe('short');
    for (const text of [request?.query, request?.documents[0]]) {
      expect(text?.length).toBeLessThan(100);
      expect(long.startsWith(text ?? '?')).toBe(true);
    }
    await expect(create({ maxDocuments: 2 }).rerank('which', TEXTS)).rejects.toThrow(RangeError);
  });
});

describe('what is read', () => {
  test('are the tokens that the provider tells of', async () => {
    expect((await rerank()).tokens).toBeNull();
    provider.configure({ tokens: 5, tokensIn: 'usage' });
    expect((await rerank()).tokens).toBe(15);
    provider.configure({ tokensIn: 'meta' });
    expect((await rerank()).tokens).toBe(15);
  });

  test('are logits as the probabilities that they stand for', async () => {
    provider.configure({ scoreOf: (document) => (document.startsWith('one') ? 0 : -7.25) });
    const { scores } = await rerank({ scores: 'logit' });
    expect(scores[0]).toBe(0.5);
    expect(scores[1]).toBeCloseTo(0.000_709_7, 6);
    provider.configure({ scoreOf: () => 1e300 });
    expect((await rerank({ scores: 'logit' })).scores).toEqual([1, 1, 1]);
    provider.configure({ scoreOf: () => -1e300 });
    expect((await rerank({ scores: 'logit' })).scores).toEqual([0, 0, 0]);
  });

  test.each<RerankerFault>([
    'repeated_index',
    'index_out_of_range',
    'negative_index',
    'no_index',
    'too_few',
    'too_many',
    'not_a_number',
    'infinite',
    'score_as_text',
    'above_one',
    'below_zero',
    'no_results',
    'not_json',
    'empty',
    'huge',
  ])('is nothing of a reply that is wrong: %s', async (fault) => {
    for (const protocol of ['documents', 'texts'] as const) {
      provider.configure({ fault, protocol });
      const error = await failureOf(rerank({ protocol }));
      expect(error).toMatchObject({ failure: 'bad_reply', pauseSeconds: null });
    }
    await until(() => provider.inFlight() === 0);
  });

  test.each<RerankerFault>(['not_a_number', 'infinite', 'score_as_text'])(
    'is no logit that is no number: %s',
    async (fault) => {
      provider.configure({ fault });
      expect((await failureOf(rerank({ scores: 'logit' }))).failure).toBe('bad_reply');
    },
  );
});

describe('a provider that does not answer', () => {
  test.each([400, 413, 422])('with %d has refused what was sent', async (status) => {
    provider.configure({ status });
    expect((await failureOf(rerank())).failure).toBe('refused');
  });

  test.each([401, 403, 404, 408, 424, 429, 500, 503])('with %d is not available', async (status) => {
    provider.configure({ status });
    expect(await failureOf(rerank())).toMatchObject({ failure: 'unavailable', pauseSeconds: null });
    expect(provider.requests).toHaveLength(1);
    provider.configure({ status, headers: { 'retry-after': '7' } });
    expect(await failureOf(rerank())).toMatchObject({ pauseSeconds: 7, retryAfterSeconds: 7 });
  });

  test('is not looked for where it redirects to', async () => {
    provider.configure({ fault: 'redirect' });
    expect((await failureOf(rerank())).failure).toBe('unavailable');
    expect(provider.followed()).toBe(0);
  });

  test('is asked once more when a connection breaks, and then is not available', async () => {
    provider.configure({ fault: 'disconnect' });
    expect((await failureOf(rerank())).failure).toBe('unavailable');
    expect(provider.requests).toHaveLength(2);
    let calls = 0;
    provider.configure({
      fault: null,
      onRequest: () => {
        calls += 1;
        provider.configure({ fault: calls === 1 ? 'disconnect' : null });
      },
    });
    expect((await rerank()).scores).toHaveLength(3);
  });

  test('is not available where nobody listens, or where a key is no header', async () => {
    const gone = await startFakeReranker();
    await gone.stop();
    expect((await failureOf(rerank({ baseUrl: gone.url }))).failure).toBe('unavailable');
    expect((await failureOf(rerank({ apiKey: 'secret\nsecret' }))).failure).toBe('unavailable');
  });

  test.each<RerankerFault>(['silence', 'slow_drip'])('is left when the caller leaves: %s', async (fault) => {
    provider.configure({ fault });
    const controller = new AbortController();
    const asked = rejection(create().rerank('which', TEXTS, { signal: controller.signal }));
    await until(() => provider.requests.length === 1);
    const reason = new Error('the caller has left');
    controller.abort(reason);
    expect(await asked).toBe(reason);
    await until(() => provider.aborted() === 1);
    expect(provider.requests).toHaveLength(1);
  });
});
