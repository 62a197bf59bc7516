import { createDeadline, untilAborted } from '../../shared/tools/aborting.js';
import { UnavailableError } from '../../shared/errors.js';
import type { CallOptions, Index } from '../../shared/ports.js';

/**
 * Wraps an index with a time limit. A question that takes longer fails with UnavailableError (503), and its late answer is
 * ignored, whatever of it heeds the signal. The Query Engine has the same limit of its own: it comes with each query, and
 * `engine.ts` of its adapter makes the same error of it. The members are listed one by one, so that a new member of the port
 * does not compile until it is added here.
 */
export function limitIndexTime(index: Index, { milliseconds }: { milliseconds: number }): Index {
  const inTime =
    <Request extends CallOptions, Answer>(ask: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      const deadline = createDeadline(milliseconds, request.signal);
      try {
        return await untilAborted(ask({ ...request, signal: deadline.signal }), deadline.signal);
      } catch (cause) {
        throw deadline.isOver ? new UnavailableError('index', { cause }) : cause;
      } finally {
        deadline.clear();
      }
    };
  return {
    name: index.name,
    vectors: {
      search: inTime((request) => index.vectors.search(request)),
      similarities: inTime((request) => index.vectors.similarities(request)),
    },
    words: {
      search: inTime((request) => index.words.search(request)),
      scores: inTime((request) => index.words.scores(request)),
    },
    list: inTime((request) => index.list(request)),
    count: inTime((request) => index.count(request)),
    // Neither of these asks the engine.
    state: () => index.state(),
    close: () => index.close(),
  };
}
