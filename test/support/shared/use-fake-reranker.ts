import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { startFakeReranker, type FakeReranker, type FakeRerankerOptions } from '../fake-reranker.js';

/** A provider of scores for the tests of a file, as it was at its start before each of them. */
export function useFakeReranker(options: FakeRerankerOptions = {}): Omit<FakeReranker, 'stop'> {
  let provider: FakeReranker | undefined;
  const get = () => {
    if (!provider) throw new Error('the provider is there from `beforeAll` on');
    return provider;
  };
  beforeAll(async () => {
    provider = await startFakeReranker(options);
  });
  afterEach(() => {
    get().reset();
  });
  afterAll(() => get().stop());
  return {
    get url() {
      return get().url;
    },
    get requests() {
      return get().requests;
    },
    inFlight: () => get().inFlight(),
    mostInFlight: () => get().mostInFlight(),
    aborted: () => get().aborted(),
    followed: () => get().followed(),
    configure: (changes) => {
      get().configure(changes);
    },
    reset: () => {
      get().reset();
    },
  };
}
