import { expect, test } from '@jest/globals';
import { limitIndexTime } from '../../../src/api/context/open-index.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import type { Index } from '../../../src/shared/ports.js';

/** An index that answers only when it is told to give up. */
const slow: Index = {
  name: 'slow',
  vectors: { search: ({ signal }) => hang(signal), similarities: ({ signal }) => hang(signal) },
  words: { search: ({ signal }) => hang(signal), scores: ({ signal }) => hang(signal) },
  list: ({ signal }) => hang(signal),
  count: ({ signal }) => hang(signal),
  state: () => Promise.resolve('ready'),
  close: () => Promise.resolve(),
};

function hang(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(new Error('given up'));
    });
  });
}

const request = { principal: { id: 'alice' }, filter: null, skip: 0, limit: 10 };
const search = { ...request, vector: new Float32Array(4) };
const words = { ...request, query: 'harbour', minScore: 0 };

test('an index that takes too long is unavailable, whatever it is asked', async () => {
  const index = limitIndexTime(slow, { milliseconds: 20 });
  await expect(index.vectors.search(search)).rejects.toBeInstanceOf(UnavailableError);
  await expect(index.vectors.similarities({ ...search, chunks: [] })).rejects.toBeInstanceOf(
    UnavailableError,
  );
  await expect(index.words.search(words)).rejects.toBeInstanceOf(UnavailableError);
  await expect(index.words.scores({ ...words, chunks: [] })).rejects.toBeInstanceOf(UnavailableError);
  await expect(index.list(request)).rejects.toBeInstanceOf(UnavailableError);
  await expect(index.count(request)).rejects.toBeInstanceOf(UnavailableError);
});

test('an index that does not heed the signal is given up all the same', async () => {
  const never = () => new Promise<never>(() => undefined);
  const deaf: Index = { ...slow, words: { search: never, scores: never }, count: never };
  const index = limitIndexTime(deaf, { milliseconds: 20 });
  await expect(index.words.search(words)).rejects.toBeInstanceOf(UnavailableError);
  await expect(index.words.scores({ ...words, chunks: [] })).rejects.toBeInstanceOf(UnavailableError);
  await expect(index.count(request)).rejects.toBeInstanceOf(UnavailableError);
}, 5_000);

test('an answer in time, and what the index is, are handed through', async () => {
  const index = limitIndexTime({ ...slow, count: () => Promise.resolve(3) }, { milliseconds: 20_000 });
  expect(await index.count(request)).toBe(3);
  expect(await index.state()).toBe('ready');
  expect(index.name).toBe('slow');
});

test("the caller's own abort stays what it is", async () => {
  const index = limitIndexTime(slow, { milliseconds: 20_000 });
  const controller = new AbortController();
  const answer = index.vectors.search({ ...search, signal: controller.signal });
  controller.abort();
  await expect(answer).rejects.toThrow('given up');
});
