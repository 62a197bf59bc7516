import { describe, expect, test } from '@jest/globals';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { countTokens } from '../../../../src/shared/text/token-count.js';
import { fakeVector } from '../../../support/fake-embeddings.js';
import { startFakeOpenAI } from '../../../support/fake-openai.js';
import { embedderOfOpenAI, printed, type EmbedderChanges } from '../../../support/langchain.js';
import { rejection } from '../../../support/rejection.js';
import { useFakeOpenAI } from '../../../support/shared/use-fake-openai.js';

const KEY = 'sk-very-secret';
const provider = useFakeOpenAI({ apiKey: KEY });
/** Requests in which a class shows that it keeps the order of its texts. */
const PROBES = 4;

const create = (changes?: EmbedderChanges) => embedderOfOpenAI(provider.url, KEY, changes);

/** An embedder that has shown its abilities. */
async function createProven(changes?: EmbedderChanges) {
  const embedder = await create(changes);
  provider.reset();
  return embedder;
}

describe('a right reply', () => {
  test('is made of vectors of unit length, in order, whose tokens nobody tells', async () => {
    const texts = ['red', 'green apples', 'blue'];
    const { vectors, tokens } = await (await create()).embedDocuments(texts);
    const expected = texts.map((text) => fakeVector(text, 256));
    for (const [index, vector] of vectors.entries()) {
      expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
      vector.forEach((value, at) => expect(value).toBeCloseTo(expected[index]?.[at] ?? NaN, 6));
    }
    expect(tokens).toBeNull();
  });

  test('comes of one request, in which the texts are as they were, in a form that all servers know', async () => {
    const embedder = await createProven();
    const texts = Array.from({ length: 1_000 }, (_, index) => `line ${String(index)}\nand another`);
    await embedder.embedDocuments(texts);
    expect(provider.requests.map(({ body }) => body)).toEqual([
      { model: 'fake-embedding', input: texts, encoding_format: 'float' },
    ]);
  });

  test('is asked for with the options of the settings before our own', async () => {
    const embedder = await createProven({ options: { batchSize: 2, stripNewLines: true } });
    await embedder.embedDocuments(['a\na', 'b', 'c']);
    expect(provider.requests.map(({ body }) => body['input'])).toEqual([['a a', 'b'], ['c']]);
  });
});

describe('a start', () => {
  test('is refused where texts together have another order than each alone', async () => {
    provider.configure({ embeddings: 'shuffled' });
    expect(await rejection(create())).toMatchObject({
      name: 'UnusableClassError',
      message: expect.stringContaining('another order'),
    });
  });

  test('is refused where vectors have another length than the settings say', async () => {
    provider.configure({ embeddings: 'wrong_dimension' });
    expect(await rejection(create({ dimensions: 64 }))).toMatchObject({
      name: 'UnusableClassError',
      message: expect.stringContaining('63 numbers instead of 64'),
    });
  });

  test('goes on with a provider that is down, which is asked again when vectors are needed', async () => {
    provider.configure({ failures: Array.from({ length: 2 }, () => ({ status: 503 })) });
    const embedder = await create();
    expect(provider.stats.requests).toBe(1);
    expect(await rejection(embedder.embedDocuments(['text']))).toBeInstanceOf(UnavailableError);
    expect((await embedder.embedDocuments(['text'])).vectors).toHaveLength(1);
    expect(await embedder.dimensions()).toBe(256);
    expect(provider.stats.requests).toBe(2 + PROBES + 1);
  });

  test('asks once for all who ask at the same time', async () => {
    provider.configure({ failures: [{ status: 503 }] });
    const embedder = await create();
    expect(await Promise.all([embedder.dimensions(), embedder.dimensions()])).toEqual([256, 256]);
    expect(provider.stats.requests).toBe(1 + PROBES);
  });

  test('that could not ask gives no vectors while they are in another order', async () => {
    provider.configure({ failures: [{ status: 503 }], embeddings: 'shuffled' });
    const embedder = await create();
    const error = await rejection(embedder.embedDocuments(['one', 'two']));
    expect(error).toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 60 });
    expect(printed(error)).toContain('another order');
    provider.reset();
    expect((await embedder.embedDocuments(['one', 'two'])).vectors).toHaveLength(2);
  });

  test('waits no longer than some seconds for a silent provider', async () => {
    provider.configure({ failures: [{ kind: 'silence' }] });
    const embedder = await create({ timeoutMilliseconds: 60_000 });
    expect(embedder.limits).toEqual({ inputs: 2048, tokens: 300_000 });
  }, 15_000);
});

describe('a wrong reply is an error, not a vector', () => {
  test.each(['missing', 'not_json', 'wrong_shape'] as const)('when it is %s', async (embeddings) => {
    const embedder = await createProven();
    provider.configure({ embeddings });
    const error = await rejection(embedder.embedDocuments(['one', 'two', 'three']));
    expect(error).toBeInstanceOf(UnavailableError);
  });

  test('when its vectors are not as long as before', async () => {
    const embedder = await createProven();
    provider.configure({ embeddings: 'wrong_dimension' });
    const error = await rejection(embedder.embedDocuments(['one', 'two']));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(printed(error)).toContain('255 numbers instead of 256');
    expect(await rejection(embedder.embedQuery('one'))).toBeInstanceOf(UnavailableError);
  });

  test.each(['not_a_number', 'zero'] as const)('when the vector of a text is %s', async (embeddings) => {
    const embedder = await createProven();
    provider.configure({ embeddings, brokenText: 'broken' });
    const error = await rejection(embedder.embedDocuments(['one', 'a broken two']));
    expect(error).toMatchObject({ name: 'IngestError', code: 'provider' });
  });
});

describe('a provider in trouble', () => {
  test.each([{ status: 500 }, { status: 503 }, { status: 429 }, { kind: 'disconnect' as const }])(
    'is asked once, since the queue asks again: %j',
    async (failure) => {
      const embedder = await createProven();
      provider.configure({ failures: [failure] });
      expect(await rejection(embedder.embedDocuments(['text']))).toBeInstanceOf(UnavailableError);
      expect(provider.stats.requests).toBe(1);
    },
  );

  test.each([
    ['seconds', { 'retry-after': '30' }, 30],
    ['a date', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, 3600],
    ['milliseconds', { 'retry-after-ms': '4500' }, 5],
  ])('is left alone for as long as it wants, said in %s', async (_form, headers, seconds) => {
    const embedder = await createProven();
    provider.configure({ failures: [{ status: 429, headers }] });
    const error = await rejection(embedder.embedDocuments(['text']));
    expect(error).toBeInstanceOf(UnavailableError);
    if (!(error instanceof UnavailableError)) return;
    expect(Math.abs(error.retryAfterSeconds - seconds)).toBeLessThanOrEqual(seconds / 10);
  });

  test('is unavailable when nothing listens', async () => {
    const gone = await startFakeOpenAI();
    await gone.stop();
    const embedder = await create({ options: { configuration: { baseURL: gone.url } } });
    const error = await rejection(embedder.embedDocuments(['text']));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(printed(error)).toContain('ECONNREFUSED');
  });

  test.each([{ failures: [{ kind: 'silence' as const }] }, { embeddings: 'stalled' as const }])(
    'is given up when it takes too long: %j',
    async (fault) => {
      const embedder = await createProven({ timeoutMilliseconds: 300 });
      provider.configure(fault);
      const error = await rejection(embedder.embedDocuments(['text']));
      expect(error).toBeInstanceOf(UnavailableError);
      expect(printed(error)).toMatch(/too long|TimeoutError/);
    },
  );

  test('hears of no abort, but its caller is answered at once', async () => {
    const embedder = await createProven();
    provider.configure({ failures: [{ kind: 'silence' }] });
    const reason = new Error('the caller has gone');
    const controller = new AbortController();
    const answer = rejection(embedder.embedDocuments(['text'], { signal: controller.signal }));
    setTimeout(() => controller.abort(reason), 50);
    expect(await answer).toBe(reason);
  });
});

describe('a refusal', () => {
  test('of a text is for good, and tells the text apart from others', async () => {
    const embedder = await createProven();
    provider.configure({ refusedText: 'poison' });
    const error = await rejection(embedder.embedDocuments(['some poison']));
    expect(error).toMatchObject({ name: 'IngestError', code: 'provider' });
    expect(provider.stats.requests).toBe(1 + PROBES);
    // Other texts are not asked about again for each text that is refused.
    expect(await rejection(embedder.embedDocuments(['more poison']))).toMatchObject({ code: 'provider' });
    expect(provider.stats.requests).toBe(1 + PROBES + 1);
  });

  test('of all texts is the fault of the set-up, and fails none for good', async () => {
    const embedder = await createProven();
    provider.configure({ refusedParameters: ['model'] });
    expect(await rejection(embedder.embedDocuments(['text']))).toBeInstanceOf(UnavailableError);
  });

  test.each([
    { status: 401, code: 'invalid_api_key' },
    { status: 403 },
    { status: 404, code: 'model_not_found' },
    { status: 400, code: 'model_not_found' },
    { status: 429, code: 'insufficient_quota' },
  ])('of the set-up fails no text for good and is not asked again: %j', async (failure) => {
    const embedder = await createProven();
    provider.configure({ failures: [failure] });
    const error = await rejection(embedder.embedDocuments(['text']));
    expect(error).toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 60 });
    expect(provider.stats.requests).toBe(1);
  });

  test('never tells the key nor the text, whatever the provider quotes', async () => {
    const wrongKey = await rejection((await create({ key: 'sk-wrong-secret' })).embedDocuments(['text']));
    const badKey = await rejection((await create({ key: 'sk-bad\nsecret' })).embedDocuments(['text']));
    const embedder = await create();
    provider.configure({ refusedText: 'classified' });
    const refused = await rejection(embedder.embedDocuments(['classified matter']));
    expect([wrongKey, refused, badKey].map(printed).join('\n')).not.toMatch(/secret|classified/);
    expect(printed(wrongKey)).toContain('401 (invalid_api_key');
    expect(badKey).toBeInstanceOf(UnavailableError);
  });
});

describe('what is sent', () => {
  test('is never an empty text', async () => {
    const embedder = await createProven();
    expect(await rejection(embedder.embedDocuments(['text', '']))).toMatchObject({ name: 'IngestError' });
    expect(provider.stats.requests).toBe(0);
  });

  test('begins as the model wants it', async () => {
    const embedder = await createProven({ prefixes: { query: 'q: ', document: 'd: ' } });
    await embedder.embedDocuments(['one']);
    await embedder.embedQuery('two');
    expect(provider.requests.map(({ body }) => body['input'])).toEqual([['d: one'], 'q: two']);
  });

  test('is cut to what models read', async () => {
    const embedder = await createProven();
    const text = 'semantic retrieval '.repeat(8000);
    await embedder.embedQuery(text);
    const sent = String(provider.requests[0]?.body['input']);
    expect(text.startsWith(sent)).toBe(true);
    expect(countTokens(sent)).toBeLessThanOrEqual(8192);
    expect(countTokens(sent)).toBeGreaterThan(7_900);
  });
});
