import type { FakeOpenAIOptions } from '../fake-exchange.js';
import { startFakeOpenAI, type FakeOpenAI } from '../fake-openai.js';
import { useFake } from './use-fake.js';

/** A provider for the tests of a file or of a `describe`, as it was at its start before each of them. */
export function useFakeOpenAI(options: FakeOpenAIOptions = {}): Omit<FakeOpenAI, 'stop'> {
  const get = useFake(() => startFakeOpenAI(options));
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
