import { createDeadline } from '../shared/deadline.js';
import { UnavailableError } from '../shared/errors.js';
import type { CallOptions, Index } from '../shared/ports.js';

/**
 * An index that answers in time or not at all: a late answer is a 503, never taken for the truth. Nothing of the index
 * is handed through unnamed: what the port gets one day does not compile until it stands here.
 */
export function limitIndexTime(index: Index, { milliseconds }: { milliseconds: number }): Index {
  const inTime =
    <Request extends CallOptions, Answer>(ask: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      const deadline = createDeadline(milliseconds, request.signal);
      try {
        return await ask({ ...request, signal: deadline.signal });
      } catch (cause) {
        throw deadline.isOver ? new UnavailableError('index', { cause }) : cause;
      } finally {
        deadline.clear();
      }
    };
  return {
    name: index.name,
    hasCheapPostings: index.hasCheapPostings,
    search: inTime((request) => index.search(request)),
    searchTerms: inTime((request) => index.searchTerms(request)),
    list: inTime((request) => index.list(request)),
    count: inTime((request) => index.count(request)),
    // Both know without asking the engine.
    state: () => index.state(),
    close: () => index.close(),
  };
}
