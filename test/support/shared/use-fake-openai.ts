import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { FakeOpenAIOptions } from '../fake-exchange.js';
import { startFakeOpenAI, type FakeOpenAI } from '../fake-openai.js';

/** A provider for the tests of a file or of a `describe`, as it was at its start before each of them. */
export function useFakeOpenAI(options: FakeOpenAIOptions = {}): Omit<FakeOpenAI, 'stop'> {
  let provider: FakeOpenAI | undefined;
  const get = () => {
    if (!provider) throw new Error('the provider is there from `beforeAll` on');
    return provider;
  };
  beforeAll(async () => {
    provider = await startFakeOpenAI(options);
  });
  afterEach(() => {
    get().reset();
  });
  afterAll(() => get().stop());
  return {
    get url() {
      return get().url;
    },
    get stats() {
      return get().stats;
    },
    get requests() {
      return get().requests;
    },
    configure: (changes) => {
      get().configure(changes);
    },
    reset: () => {
      get().reset();
    },
  };
}
