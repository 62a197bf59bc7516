import { Embeddings } from '@langchain/core/embeddings';
import { describe, expect, test } from '@jest/globals';
import { createEmbedderOver } from '../../../../src/shared/adapters/langchain/embedder.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { fakeVector } from '../../../support/fake-embeddings.js';
import { printed } from '../../../support/langchain.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

type Answer = (texts: readonly string[]) => unknown;

const vectors: Answer = (texts) => texts.map((text) => [...fakeVector(text, 8)]);

/** A class whose answers can be anything, and that counts how often it is asked. */
class AnyEmbeddings extends Embeddings {
  answer: Answer = vectors;
  asked = 0;

  constructor() {
    super({});
  }
  // @NOTE the answer of a package has the type that it says only if it has no fault.
  async embedDocuments(texts: string[]): Promise<number[][]> {
    this.asked += 1;
    return (await this.answer(texts)) as number[][];
  }
  async embedQuery(text: string): Promise<number[]> {
    const [vector = []] = await this.embedDocuments([text]);
    return vector;
  }
}

const NAME = { name: 'any', timeoutMilliseconds: 200 };

async function createProven(options: { readonly timeoutMilliseconds?: number } = {}) {
  const embeddings = new AnyEmbeddings();
  const embedder = createEmbedderOver(embeddings, { ...NAME, ...options });
  await embedder.dimensions();
  embeddings.asked = 0;
  return { embeddings, embedder };
}

describe('an answer that is no list of as many vectors as texts', () => {
  test.each<[string, Answer]>([
    ['too few', (texts) => [vectors(texts.slice(1))].flat()],
    ['too many', (texts) => [vectors(texts), vectors(['more'])].flat()],
    ['none', () => []],
    ['nothing', () => undefined],
    ['a text', () => 'vectors'],
    ['an object', () => ({ length: 2 })],
    ['texts', () => ['AAAA', 'AAAA']],
    ['empty vectors', () => [[], []]],
    ['nothing for one', (texts) => [[vectors(texts)].flat()[0], null]],
    ['vectors of other lengths', (texts) => [[vectors(texts)].flat()[0], [1, 2]]],
    ['longer vectors', (texts) => texts.map((text) => [...fakeVector(text, 9)])],
  ])('is an error of the provider: %s', async (_name, answer) => {
    const { embeddings, embedder } = await createProven();
    embeddings.answer = answer;
    const error = await rejection(embedder.embedDocuments(['one', 'two']));
    expect(error).toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 30 });
    expect(printed(error)).toContain("the provider's reply");
  });

  test.each([
    ['no numbers', ['1', '2', '3', '4', '5', '6', '7', '8']],
    ['large integers', [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]],
    ['one that is infinite', [1, 2, 3, 4, 5, 6, 7, -Infinity]],
    ['one that is missing', [1, 2, 3, 4, 5, 6, 7, undefined]],
    ['more than a float holds', Array.from({ length: 8 }, () => 1e300)],
    ['zeros', Array.from({ length: 8 }, () => 0)],
  ])('or of a text, where its vector has %s', async (_name, vector) => {
    const { embeddings, embedder } = await createProven();
    embeddings.answer = (texts) => texts.map((text) => (text === 'two' ? vector : [...fakeVector(text, 8)]));
    expect(await rejection(embedder.embedDocuments(['one', 'two']))).toMatchObject({ code: 'provider' });
  });

  test('but vectors may be of any kind of list, and of any length', async () => {
    const { embeddings, embedder } = await createProven();
    embeddings.answer = () => [
      new Float32Array(8).fill(3),
      new Float64Array(8).fill(1e30),
      Array(8).fill(1e-20),
    ];
    const { vectors: found } = await embedder.embedDocuments(['one', 'two', 'three']);
    for (const vector of found) expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  });
});

describe('a class is not used', () => {
  test.each<[string, Answer]>([
    ['that mixes up the order', (texts) => [vectors(texts)].flat().reverse()],
    ['that knows only one vector', (texts) => texts.map(() => [1, 2, 3])],
    [
      'whose vectors depend on what is beside them',
      (texts) => vectors(texts.map((text) => text + texts.join(''))),
    ],
    [
      'whose vectors have several lengths',
      (texts) => texts.map((text) => [...fakeVector(text, 7 + texts.length)]),
    ],
    ['that has only bad vectors', (texts) => texts.map(() => [NaN])],
  ])('%s', async (_name, answer) => {
    const embeddings = new AnyEmbeddings();
    embeddings.answer = answer;
    const embedder = createEmbedderOver(embeddings, NAME);
    for (const ask of [
      () => embedder.dimensions(),
      () => embedder.embedDocuments(['text']),
      () => embedder.embedQuery('text'),
    ]) {
      expect(await rejection(ask())).toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 60 });
    }
  });
});

describe('a call that does not end', () => {
  test('is abandoned, and what comes of it later is dropped', async () => {
    const { embeddings, embedder } = await createProven();
    let settle: (error: Error) => void = () => undefined;
    embeddings.answer = () => new Promise((_, reject) => (settle = reject));
    const error = await rejection(embedder.embedDocuments(['text']));
    expect(printed(error)).toContain('took too long');
    settle(new Error('too late'));
    embeddings.answer = vectors;
    expect((await embedder.embedDocuments(['text'])).vectors).toHaveLength(1);
  });

  test('holds its place, so that there are never more than some', async () => {
    const { embeddings, embedder } = await createProven({ timeoutMilliseconds: 150 });
    const settling: (() => void)[] = [];
    embeddings.answer = (texts) => new Promise((resolve) => settling.push(() => resolve(vectors(texts))));
    const ask = () => Promise.all(Array.from({ length: 50 }, () => rejection(embedder.embedQuery('text'))));
    for (const errors of [await ask(), await ask()]) {
      for (const error of errors) expect(error).toBeInstanceOf(UnavailableError);
    }
    expect(embeddings.asked).toBe(32);
    for (const settle of settling) settle();
    embeddings.answer = vectors;
    await until(async () => (await rejection(embedder.embedQuery('text')).catch(() => null)) === null);
  });

  test('and one whose caller leaves while it waits for a place never begins', async () => {
    const { embeddings, embedder } = await createProven({ timeoutMilliseconds: 5_000 });
    const settling: (() => void)[] = [];
    embeddings.answer = (texts) => new Promise((resolve) => settling.push(() => resolve(vectors(texts))));
    const first = Array.from({ length: 32 }, () => embedder.embedQuery('text'));
    await until(() => settling.length === 32);
    const controller = new AbortController();
    const waiting = rejection(embedder.embedQuery('text', { signal: controller.signal }));
    const reason = new Error('the caller has gone');
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    for (const settle of settling) settle();
    await Promise.all(first);
    expect(embeddings.asked).toBe(32);
  });
});

test('a class that throws at once is an error of the provider', async () => {
  const { embeddings, embedder } = await createProven();
  embeddings.embedDocuments = () => {
    throw new TypeError('secret text');
  };
  const error = await rejection(embedder.embedDocuments(['text']));
  expect(error).toBeInstanceOf(UnavailableError);
  expect(printed(error)).toContain('(TypeError)');
  expect(printed(error)).not.toContain('secret');
});
