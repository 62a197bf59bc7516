import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  createOpenAIEmbedder,
  type OpenAIEmbedderOptions,
} from '../../../../src/shared/adapters/openai/embedder.js';
import { IngestError, UnavailableError } from '../../../../src/shared/errors.js';
import { countTokens } from '../../../../src/shared/text/token-count.js';
import { fakeVector } from '../../../support/fake-embeddings.js';
import { startFakeOpenAI, type FakeOpenAI } from '../../../support/fake-openai.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

const KEY = 'sk-very-secret';
let provider: FakeOpenAI;
beforeAll(async () => {
  provider = await startFakeOpenAI({ apiKey: KEY });
});
afterAll(() => provider.stop());
afterEach(() => {
  provider.reset();
});

function embedder(options: Partial<OpenAIEmbedderOptions> = {}) {
  const defaults = {
    apiKey: KEY,
    baseUrl: provider.url,
    model: 'fake-embedding',
    timeoutMilliseconds: 30_000,
  };
  return createOpenAIEmbedder({ ...defaults, ...options });
}

/** All that a logger would print of an error. */
function printed(error: unknown): string {
  return error instanceof Error
    ? [error.name, error.message, error.stack, JSON.stringify(error), printed(error.cause)].join('\n')
    : String(error);
}

describe('a right reply', () => {
  test('is put in order by its indexes', async () => {
    provider.configure({ embeddings: 'shuffled' });
    const texts = ['red', 'green', 'blue'];
    const { vectors } = await embedder().embedDocuments(texts);
    expect(vectors).toEqual(texts.map((text) => fakeVector(text, 256)));
  });

  test('is made of vectors of unit length and of the tokens billed', async () => {
    const texts = ['one two three', 'four'];
    const { vectors, tokens } = await embedder().embedDocuments(texts);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
    expect(tokens).toBe(texts.map(countTokens).reduce((sum, count) => sum + count));
  });

  test('has no tokens when the provider does not count', async () => {
    provider.configure({ sendsUsage: false });
    expect((await embedder().embedDocuments(['text'])).tokens).toBeNull();
  });

  test('may hold floats although base64 was asked for', async () => {
    provider.configure({ hasBase64: false });
    const { vectors } = await embedder().embedDocuments(['floats', 'only']);
    expect(vectors).toEqual([fakeVector('floats', 256), fakeVector('only', 256)]);
  });

  test('comes as floats from a server that refuses base64, which is asked for it once', async () => {
    provider.configure({
      failures: [{ status: 422, message: 'encoding_format: only float is supported' }],
      hasBase64: false,
    });
    const tested = embedder();
    expect((await tested.embedDocuments(['a'])).vectors).toEqual([fakeVector('a', 256)]);
    await tested.embedDocuments(['b']);
    expect(provider.requests.map(({ body }) => body['encoding_format'])).toEqual([
      'base64',
      'float',
      'float',
    ]);
  });

  test('tells the dimensions, which are asked for once', async () => {
    provider.configure({ dimensions: 384 });
    const tested = embedder();
    expect(await Promise.all([tested.dimensions(), tested.dimensions()])).toEqual([384, 384]);
    expect(await tested.dimensions()).toBe(384);
    expect(provider.stats.embeddingRequests).toBe(1);
  });

  test('has the dimensions of the settings, and the model is named after them', async () => {
    const tested = embedder({ dimensions: 64 });
    expect(await tested.dimensions()).toBe(64);
    expect(provider.stats.requests).toBe(0);
    expect((await tested.embedQuery('short')).vectors[0]).toHaveLength(64);
    expect(tested.model).toBe('openai:fake-embedding:64');
    expect(embedder().model).toBe('openai:fake-embedding');
  });
});

describe('a wrong reply is an error, not a vector', () => {
  test.each(['missing', 'extra', 'repeated_index', 'no_index', 'not_json', 'wrong_shape'] as const)(
    'when it is %s',
    async (embeddings) => {
      provider.configure({ embeddings });
      const error = await rejection(embedder().embedDocuments(['one', 'two', 'three']));
      expect(error).toBeInstanceOf(UnavailableError);
    },
  );

  test('when its vectors are not as long as before', async () => {
    const tested = embedder();
    await tested.embedDocuments(['right']);
    provider.configure({ embeddings: 'wrong_dimension' });
    const error = await rejection(tested.embedDocuments(['one', 'two']));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(printed(error)).toContain('255 numbers instead of 256');
  });

  test('when its vectors are not as long as asked for', async () => {
    provider.configure({ embeddings: 'wrong_dimension' });
    expect(await rejection(embedder({ dimensions: 64 }).embedQuery('text'))).toBeInstanceOf(UnavailableError);
  });

  test.each(['not_a_number', 'infinite', 'zero'] as const)(
    'when a vector is %s, as floats and as base64',
    async (embeddings) => {
      for (const hasBase64 of [true, false]) {
        provider.configure({ embeddings, hasBase64 });
        const error = await rejection(embedder().embedDocuments(['one', 'two']));
        expect(error).toMatchObject({ name: 'IngestError', code: 'provider' });
      }
    },
  );
});

describe('a provider in trouble', () => {
  test('is asked again after the short wait that it wants', async () => {
    provider.configure({ failures: [{ status: 429, headers: { 'retry-after-ms': '200' } }] });
    const start = performance.now();
    await embedder().embedDocuments(['text']);
    expect(performance.now() - start).toBeGreaterThanOrEqual(195);
    expect(provider.stats.requests).toBe(2);
  });

  test.each([
    ['seconds', { 'retry-after': '30' }, 30],
    ['a date', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, 3600],
    ['milliseconds', { 'retry-after-ms': '4500' }, 5],
  ])('is left alone for as long as it wants, said in %s', async (_form, headers, seconds) => {
    provider.configure({ failures: [{ status: 429, headers }] });
    const start = performance.now();
    const error = await rejection(embedder().embedDocuments(['text']));
    // It wants four seconds and more.
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(error).toBeInstanceOf(UnavailableError);
    if (!(error instanceof UnavailableError)) return;
    // Until the date that the machine took to get here is nearer.
    expect(Math.abs(error.retryAfterSeconds - seconds)).toBeLessThanOrEqual(seconds / 10);
    expect(provider.stats.requests).toBe(1);
  });

  test.each([{ status: 500 }, { status: 503 }, { kind: 'disconnect' as const }])(
    'gets a second chance: %j',
    async (failure) => {
      provider.configure({ failures: [failure] });
      expect((await embedder().embedDocuments(['text'])).vectors).toHaveLength(1);
      expect(provider.stats.requests).toBe(2);
    },
  );

  test('is unavailable after three failures', async () => {
    provider.configure({ failures: [{ status: 500 }, { status: 502 }, { status: 500 }, { status: 500 }] });
    expect(await rejection(embedder().embedDocuments(['text']))).toBeInstanceOf(UnavailableError);
    expect(provider.stats.requests).toBe(3);
  });

  test('is unavailable when nothing listens', async () => {
    const error = await rejection(embedder({ baseUrl: 'http://127.0.0.1:1/v1' }).embedDocuments(['text']));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(printed(error)).toMatch(/ECONNREFUSED|no answer/);
  });

  test.each([{ failures: [{ kind: 'silence' as const }] }, { embeddings: 'stalled' as const }])(
    'is given up when it takes too long, and the request closed: %j',
    async (fault) => {
      provider.configure(fault);
      // Without a time limit, this would never end.
      const error = await rejection(embedder({ timeoutMilliseconds: 300 }).embedDocuments(['text']));
      expect(error).toBeInstanceOf(UnavailableError);
      await until(() => provider.stats.inFlight === 0);
      expect(provider.stats).toMatchObject({ requests: 1, aborted: 1 });
    },
  );

  test('hears of an abort while it waits to ask again', async () => {
    provider.configure({ failures: [{ status: 429, headers: { 'retry-after-ms': '1900' } }] });
    const controller = new AbortController();
    const reason = new Error('the caller has gone');
    const answer = rejection(embedder().embedDocuments(['text'], { signal: controller.signal }));
    await until(() => provider.stats.failed === 1 && provider.stats.inFlight === 0);
    controller.abort(reason);
    // By a timer of this very process, which is late when the answer is.
    expect(await Promise.race([answer, sleep(1_000, 'only after the wait', { ref: false })])).toBe(reason);
    expect(provider.stats.requests).toBe(1);
  });

  test('hears of an abort', async () => {
    provider.configure({ failures: [{ kind: 'silence' }] });
    const controller = new AbortController();
    const reason = new Error('the caller has gone');
    const answer = rejection(embedder().embedDocuments(['text'], { signal: controller.signal }));
    await until(() => provider.stats.inFlight === 1);
    controller.abort(reason);
    expect(await answer).toBe(reason);
    await until(() => provider.stats.aborted === 1);
  });
});

describe('a refusal', () => {
  test('of a text is for good, and is not asked again', async () => {
    provider.configure({ refusedText: 'poison' });
    const error = await rejection(embedder().embedDocuments(['some poison']));
    expect(error).toMatchObject({ name: 'IngestError', code: 'provider' });
    expect(provider.stats.requests).toBe(1);
  });

  test.each([
    { status: 401, code: 'invalid_api_key' },
    { status: 403 },
    { status: 404, code: 'model_not_found' },
    { status: 400, code: 'model_not_found' },
    { status: 400, param: 'dimensions' },
    { status: 429, code: 'insufficient_quota' },
  ])('of the set-up fails no text for good and is not asked again: %j', async (failure) => {
    provider.configure({ failures: [failure] });
    expect(await rejection(embedder().embedDocuments(['text']))).toBeInstanceOf(UnavailableError);
    expect(provider.stats.requests).toBe(1);
  });

  test('never tells the key nor the text, whatever the provider quotes', async () => {
    const wrongKey = await rejection(embedder({ apiKey: 'sk-wrong-secret' }).embedDocuments(['text']));
    provider.configure({ refusedText: 'classified' });
    const refused = await rejection(embedder().embedDocuments(['classified matter']));
    const badKey = await rejection(embedder({ apiKey: 'sk-bad\nsecret' }).embedDocuments(['text']));
    expect([wrongKey, refused, badKey].map(printed).join('\n')).not.toMatch(/secret|classified/);
    expect(printed(wrongKey)).toContain('401 (invalid_api_key');
    expect(badKey).toBeInstanceOf(UnavailableError);
  });
});

describe('what is sent', () => {
  test('is never an empty text', async () => {
    expect(await rejection(embedder().embedDocuments(['text', '']))).toBeInstanceOf(IngestError);
    expect(provider.stats.requests).toBe(0);
  });

  test.each([
    ['English', 'semantic retrieval '.repeat(8000)],
    ['Chinese', '検索拡張生成'.repeat(5000)],
    ['one run', 'x'.repeat(32_768)],
    ['emoji', '👩‍👩‍👧👍🏽'.repeat(3000)],
  ])('is cut to what the model reads: %s', async (_kind, text) => {
    await embedder().embedQuery(text);
    const sent = String(provider.requests[0]?.body['input']);
    expect(text.startsWith(sent)).toBe(true);
    expect(Buffer.from(sent).toString()).toBe(sent);
    expect(countTokens(sent)).toBeLessThanOrEqual(8192);
    expect(Math.min(countTokens(text), 8192) - countTokens(sent)).toBeLessThanOrEqual(8192 / 32);
  });

  test('holds no key when the server wants none', async () => {
    provider.configure({ apiKey: null });
    await embedder({ apiKey: null }).embedQuery('text');
    expect(provider.requests[0]?.authorization).toBeUndefined();
  });
});
