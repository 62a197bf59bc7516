import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createBuiltinEmbedder } from '../../../src/shared/adapters/builtin/embedder.js';
import { createOpenAIEmbedder } from '../../../src/shared/adapters/openai/embedder.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { createEmbedding, type EmbeddingOptions } from '../../../src/shared/models/embedding.js';
import { countTokens } from '../../../src/shared/text/token-count.js';
import { fakeVector } from '../../support/fake-embeddings.js';
import { startFakeOpenAI, type FakeOpenAI } from '../../support/fake-openai.js';
import { rejection } from '../../support/rejection.js';
import { until } from '../../support/until.js';

let provider: FakeOpenAI;
beforeAll(async () => {
  provider = await startFakeOpenAI({ dimensions: 32 });
});
afterAll(() => provider.stop());
afterEach(() => {
  provider.reset();
});

function embedding(
  limits: { maxInputs?: number; maxTokens?: number } = {},
  options: Partial<EmbeddingOptions> = {},
) {
  const connection = { apiKey: null, baseUrl: provider.url, timeoutMilliseconds: 60_000 };
  const embedder = createOpenAIEmbedder({ ...connection, model: 'fake-embedding', ...limits });
  return createEmbedding(embedder, { maxWaitMilliseconds: 10, ...options });
}

function counted(texts: readonly string[]) {
  return texts.map((text) => ({ text, tokens: countTokens(text) }));
}

function numbered(name: string, count: number) {
  return counted(Array.from({ length: count }, (_, index) => `${name} ${String(index)}`));
}

function expected(texts: readonly { text: string }[]) {
  return texts.map(({ text }) => fakeVector(text, 32));
}

const sum = (values: readonly number[]) => values.reduce((left, right) => left + right, 0);

describe('documents', () => {
  test('of many callers go in one request, and each gets its own vectors and tokens', async () => {
    const tested = embedding();
    const calls = Array.from({ length: 20 }, (_, index) => numbered(`caller ${String(index)}`, index + 1));
    const replies = await Promise.all(calls.map((texts) => tested.embedDocuments(texts)));
    expect(replies.map(({ vectors }) => vectors)).toEqual(calls.map(expected));
    expect(provider.stats.embeddingRequests).toBe(1);
    expect(sum(replies.map(({ tokens }) => tokens))).toBe(provider.stats.embeddedTokens);
  });

  test('are sent 2,048 at a time at most', async () => {
    const texts = numbered('text', 5000);
    const { vectors } = await embedding().embedDocuments(texts);
    expect(vectors).toEqual(expected(texts));
    expect(provider.stats).toMatchObject({ embeddingRequests: 3, largestBatch: 2048, embeddedTexts: 5000 });
  });

  test('are sent 300,000 tokens at a time at most', async () => {
    const long = Array.from({ length: 1000 }, (_, index) => `${String(index)}${' lorem ipsum'.repeat(310)}`);
    const texts = counted(long);
    const total = sum(texts.map(({ tokens }) => tokens));
    expect(total).toBeGreaterThan(600_000);
    const { vectors, tokens } = await embedding().embedDocuments(texts);
    expect(vectors).toHaveLength(1000);
    expect(tokens).toBe(total);
    expect(provider.stats).toMatchObject({
      embeddingRequests: Math.ceil(total / 300_000),
      embeddedTokens: total,
    });
  });

  test('keep no more requests in flight than allowed, and lose none', async () => {
    provider.configure({ latencyMilliseconds: 150 });
    const tested = embedding({ maxInputs: 8 }, { maxInFlight: 3 });
    const calls = Array.from({ length: 12 }, (_, index) => numbered(`caller ${String(index)}`, 10));
    const replies = await Promise.all(calls.map((texts) => tested.embedDocuments(texts)));
    expect(replies.map(({ vectors }) => vectors)).toEqual(calls.map(expected));
    expect(provider.stats).toMatchObject({ mostInFlight: 3, embeddingRequests: 15, largestBatch: 8 });
  });

  test('that come while a request is under way are gathered', async () => {
    provider.configure({ latencyMilliseconds: 60 });
    const tested = embedding();
    const first = tested.embedDocuments(numbered('first', 2));
    await until(() => provider.stats.inFlight === 1);
    const others = ['a', 'b', 'c'].map((name) => tested.embedDocuments(numbered(name, 2)));
    await Promise.all([first, ...others]);
    expect(provider.stats.embeddingRequests).toBe(2);
  });

  test('that the provider refuses fail their caller alone', async () => {
    provider.configure({ refusedText: 'poison' });
    const tested = embedding();
    const clean = Array.from({ length: 6 }, (_, index) => numbered(`clean ${String(index)}`, 5));
    const poisoned = counted(['fine', 'poison', 'fine too']);
    const before = clean.slice(0, 3).map((texts) => tested.embedDocuments(texts));
    const failing = rejection(tested.embedDocuments(poisoned));
    const after = clean.slice(3).map((texts) => tested.embedDocuments(texts));
    const replies = await Promise.all([...before, ...after]);
    expect(replies.map(({ vectors }) => vectors)).toEqual(clean.map(expected));
    expect(await failing).toMatchObject({ name: 'IngestError', code: 'provider' });
    expect(provider.requests.length).toBeLessThan(16);
  });

  test('whose vector is no vector fail their caller alone', async () => {
    provider.configure({ embeddings: 'not_a_number', brokenText: 'broken' });
    const tested = embedding();
    const failing = rejection(tested.embedDocuments(counted(['broken'])));
    const texts = numbered('whole', 7);
    expect((await tested.embedDocuments(texts)).vectors).toEqual(expected(texts));
    expect(await failing).toMatchObject({ code: 'provider' });
  });

  test('fail with the request that held them, and not with another', async () => {
    provider.configure({ failures: [{ status: 429, headers: { 'retry-after': '20' } }] });
    const tested = embedding({ maxInputs: 2 }, { maxInFlight: 1 });
    const first = rejection(tested.embedDocuments(numbered('first', 2)));
    const second = tested.embedDocuments(numbered('second', 2));
    const error = await first;
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ retryAfterSeconds: 20 });
    expect((await second).vectors).toHaveLength(2);
  });

  test('of a caller that has gone are not waited for, nor sent, and hold up no other', async () => {
    provider.configure({ latencyMilliseconds: 60_000 });
    const tested = embedding({ maxInputs: 2 }, { maxInFlight: 1 });
    const controller = new AbortController();
    const { signal } = controller;
    const leaving = rejection(tested.embedDocuments(numbered('leaving', 6), { signal }));
    await until(() => provider.stats.inFlight === 1);
    provider.configure({ latencyMilliseconds: 0 });
    const staying = tested.embedDocuments(numbered('staying', 2));
    controller.abort(new Error('gone'));
    expect(await leaving).toMatchObject({ message: 'gone' });
    expect((await staying).vectors).toHaveLength(2);
    expect(provider.stats).toMatchObject({ requests: 2, aborted: 1, embeddedTexts: 2 });
  });

  test('of one caller stay in a request that another has left', async () => {
    provider.configure({ latencyMilliseconds: 500 });
    const tested = embedding();
    const controller = new AbortController();
    const leaving = rejection(tested.embedDocuments(numbered('leaving', 2), { signal: controller.signal }));
    const staying = tested.embedDocuments(numbered('staying', 2));
    await until(() => provider.stats.inFlight === 1);
    controller.abort(new Error('gone'));
    expect(await leaving).toMatchObject({ message: 'gone' });
    expect((await staying).vectors).toHaveLength(2);
    expect(provider.stats).toMatchObject({ requests: 1, aborted: 0 });
  });

  test('are counted as their caller did when the provider does not count', async () => {
    provider.configure({ sendsUsage: false });
    const { tokens } = await embedding().embedDocuments([
      { text: 'one', tokens: 7 },
      { text: 'two', tokens: 5 },
    ]);
    expect(tokens).toBe(12);
    expect(await embedding().embedDocuments([])).toEqual({ vectors: [], tokens: 0, inParts: [] });
  });
});

describe('queries', () => {
  test('asked at once share a request', async () => {
    const tested = embedding();
    const questions = Array.from({ length: 50 }, (_, index) => `question ${String(index)}`);
    const replies = await Promise.all(questions.map((question) => tested.embedQuery(question)));
    expect(replies.map(({ vector }) => vector)).toEqual(
      questions.map((question) => fakeVector(question, 32)),
    );
    expect(provider.stats.embeddingRequests).toBe(1);
    expect(sum(replies.map(({ tokens }) => tokens ?? Number.NaN))).toBe(provider.stats.embeddedTokens);
  });

  test('do not wait for documents', async () => {
    provider.configure({ latencyMilliseconds: 150 });
    const tested = embedding({ maxInputs: 2 }, { maxInFlight: 1 });
    const documents = tested.embedDocuments(numbered('document', 8));
    await tested.embedQuery('urgent');
    // Behind the request that was under way, and before the other three.
    expect(provider.stats.embeddingRequests).toBeLessThanOrEqual(3);
    await documents;
    expect(provider.stats.embeddingRequests).toBe(5);
  });

  test('that are refused fail alone, as what the provider cannot do', async () => {
    provider.configure({ refusedText: 'poison' });
    const tested = embedding();
    const failing = rejection(tested.embedQuery('poison'));
    const others = ['one', 'two', 'three'].map((question) => tested.embedQuery(question));
    expect(await Promise.all(others)).toHaveLength(3);
    expect(await failing).toBeInstanceOf(UnavailableError);
  });

  test('go straight to an embedder that needs no request', async () => {
    const builtin = createBuiltinEmbedder();
    const tested = createEmbedding(builtin, { maxWaitMilliseconds: 1000 });
    const { vectors } = await builtin.embedQuery('how tall is the tower');
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    expect(await tested.embedQuery('how tall is the tower')).toEqual({ vector: vectors[0], tokens: null });
    expect(hasTurned).toBe(false);
  });
});
