import { dropOldest } from '../tools/drop-oldest.js';

/** Reranking is not tried for so long after it has failed. */
const PAUSE_SECONDS = 5;
/** A provider that asks for a longer wait is asked again after this. */
const MAX_PAUSE_SECONDS = 60;
/** The number of callers that are remembered. */
const MAX_CALLERS = 1_000;

interface Failure {
  /** The wait that the provider asked for; null when it asked for none. */
  readonly pauseSeconds: number | null;
  /** True if the cause may be the caller's own request, which nobody else makes. */
  readonly isUnusual: boolean;
}

/**
 * Tells when a provider is not worth a try, so that a provider that is down costs few searches their whole deadline. A
 * failure counts for its caller alone, because the request of that caller may be the cause. After the failure of a second
 * caller it counts for all, unless the provider has answered somebody in between; and so does a wait that the provider asks
 * for.
 */
export interface RerankPauses {
  isPaused(callerId: string): boolean;
  noteAnswer(callerId: string): void;
  noteFailure(callerId: string, failure: Failure): void;
}

export function createRerankPauses({ pauseSeconds = PAUSE_SECONDS } = {}): RerankPauses {
  /** When the pause of each caller ends, and the one of all, by the clock of `performance.now()`. */
  const ends = new Map<string, number>();
  let endOfAll = 0;
  /** The caller who has seen a failure since the last answer. */
  let failed: string | null = null;
  const after = (seconds: number) => performance.now() + 1_000 * seconds;
  return {
    isPaused: (callerId) => {
      const now = performance.now();
      if (now < endOfAll) return true;
      const end = ends.get(callerId);
      if (end !== undefined && now >= end) ends.delete(callerId);
      return end !== undefined && now < end;
    },
    noteAnswer: (callerId) => {
      failed = null;
      ends.delete(callerId);
    },
    noteFailure: (callerId, { pauseSeconds: asked, isUnusual }) => {
      if (asked !== null && asked > 0) {
        endOfAll = Math.max(endOfAll, after(Math.min(asked, MAX_PAUSE_SECONDS)));
        return;
      }
      ends.delete(callerId);
      ends.set(callerId, after(pauseSeconds));
      dropOldest(ends, MAX_CALLERS);
      if (isUnusual) return;
      if (failed !== null && failed !== callerId) endOfAll = Math.max(endOfAll, after(pauseSeconds));
      failed = callerId;
    },
  };
}
