import { createDeadline } from '../shared/deadline.js';
import { UnavailableError } from '../shared/errors.js';
import type { CallOptions, Index } from '../shared/ports.js';

/** An index that answers in time or not at all: a late answer is a 503, never taken for the truth. */
export function limitIndexTime(index: Index, { milliseconds }: { milliseconds: number }): Index {
  const inTime = async <Answer>(
    ask: (options: { signal: AbortSignal }) => Promise<Answer>,
    { signal }: CallOptions,
  ): Promise<Answer> => {
    const deadline = createDeadline(milliseconds, signal);
    try {
      return await ask({ signal: deadline.signal });
    } catch (cause) {
      throw deadline.isOver ? new UnavailableError('index', { cause }) : cause;
    } finally {
      deadline.clear();
    }
  };
  return {
    ...index,
    search: (request) => inTime((options) => index.search({ ...request, ...options }), request),
    list: (request) => inTime((options) => index.list({ ...request, ...options }), request),
    count: (request) => inTime((options) => index.count({ ...request, ...options }), request),
  };
}
