import { startFakeReranker, type FakeReranker, type FakeRerankerOptions } from '../fake-reranker.js';
import { useFake } from './use-fake.js';

/** A provider of scores for the tests of a file, as it was at its start before each of them. */
export function useFakeReranker(options: FakeRerankerOptions = {}): Omit<FakeReranker, 'stop'> {
  const get = useFake(() => startFakeReranker(options));
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
