import { slicesOf } from '../batches.js';
import { RerankError, UnavailableError, type RerankFailure } from '../errors.js';
import { createTurns, type Turns } from '../fair-scheduling/turns.js';
import type { Reranker, RerankScores } from '../ports.js';
import { createDeadline, untilAborted } from '../tools/aborting.js';
import { dropOldest } from '../tools/drop-oldest.js';

/**
 * The reason why there are no scores: they took too long; the provider failed, or is given a rest after it has; or too many
 * of this process wait for it.
 */
export type SkipReason = 'timeout' | RerankFailure | 'paused' | 'busy';
export type RerankOutcome = 'applied' | SkipReason;

export interface RerankTask {
  readonly callerId: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** The time that it may take. */
  readonly milliseconds: number;
  readonly signal?: AbortSignal | undefined;
}

export type Reranked =
  | { readonly type: 'applied'; readonly scores: readonly number[]; readonly tokens: number }
  | { readonly type: 'skipped'; readonly reason: SkipReason };

/** Reranking as searches use it: it never fails, unless by the caller's signal. */
export interface Reranking {
  /** The least number of hits of a search that are reranked, where there are as many. */
  readonly candidates: number;
  readonly deadlineMilliseconds: number;
  /** Tells whether it is worth a try now. Where it is not, that is an outcome. */
  mayBegin(callerId: string): boolean;
  rerank(task: RerankTask): Promise<Reranked>;
}

interface RerankingOptions extends Pick<Reranking, 'candidates' | 'deadlineMilliseconds'> {
  /** Called with the outcome of each try and, unless there was none, its duration. */
  readonly onOutcome: (outcome: RerankOutcome, seconds: number | null) => void;
  /** Called with the error of a provider. */
  readonly onFailure: (error: unknown, reason: SkipReason) => void;
  readonly pauseSeconds?: number;
}

/** A process has at most this many requests to the provider under way. */
const MAX_AT_ONCE = 32;
/** One caller has at most this many while others have some. */
const MAX_PER_CALLER = 8;
/** One caller has at most this many while nobody else has any. */
const MAX_ALONE = 16;
/** At most this many wait, because each holds its texts meanwhile. */
const MAX_WAITING = 1_000;

/** Reranks in batches of as many documents as the provider takes, in turns of the callers, and within a deadline. */
export function createReranking(reranker: Reranker, options: RerankingOptions): Reranking {
  const { candidates, deadlineMilliseconds, onOutcome, pauseSeconds } = options;
  const turns = createTurns(MAX_AT_ONCE, {
    maxPerCaller: MAX_PER_CALLER,
    maxAlone: MAX_ALONE,
    maxWaiting: MAX_WAITING,
    name: 'reranker',
  });
  const pauses = createRerankPauses(pauseSeconds === undefined ? {} : { pauseSeconds });
  const parts = { reranker, turns, pauses, candidates, onFailure: options.onFailure };
  return {
    candidates,
    deadlineMilliseconds,
    mayBegin: (callerId) => {
      const isPaused = pauses.isPaused(callerId);
      if (isPaused) onOutcome('paused', null);
      return !isPaused;
    },
    rerank: async (task) => {
      const startedAt = performance.now();
      const reranked = await attempt(parts, task);
      const outcome = reranked.type === 'applied' ? reranked.type : reranked.reason;
      onOutcome(outcome, (performance.now() - startedAt) / 1_000);
      return reranked;
    },
  };
}

interface Parts extends Pick<RerankingOptions, 'candidates' | 'onFailure'> {
  readonly reranker: Reranker;
  readonly turns: Turns;
  readonly pauses: RerankPauses;
}

async function attempt(parts: Parts, task: RerankTask): Promise<Reranked> {
  const { callerId, documents, signal } = task;
  const deadline = createDeadline(task.milliseconds, signal);
  const progress = { sent: 0 };
  try {
    const replies = await rerankBatches(parts, { ...task, signal: deadline.signal }, progress);
    parts.pauses.noteAnswer(callerId);
    return { type: 'applied', ...joined(replies) };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = deadline.isOver ? (progress.sent > 0 ? 'timeout' : 'busy') : reasonOf(error);
    if (reason === null) throw error;
    noteFailure(parts, { error, reason, callerId, isUnusual: documents.length > parts.candidates });
    return { type: 'skipped', reason };
  } finally {
    deadline.clear();
  }
}

/** Sends all batches, each when its turn comes. When one fails, the others end. */
async function rerankBatches(
  { reranker, turns, pauses }: Parts,
  { callerId, query, documents, signal: until }: RerankTask & { readonly signal: AbortSignal },
  progress: { sent: number },
): Promise<RerankScores[]> {
  const failure = new AbortController();
  const signal = AbortSignal.any([until, failure.signal]);
  const send = async (batch: readonly string[]) => {
    const turn = await turns.enter({ by: callerId, signal }).catch(toBusy);
    try {
      signal.throwIfAborted();
      if (pauses.isPaused(callerId)) throw new SkippedError('paused');
      progress.sent += 1;
      return await untilAborted(reranker.rerank(query, batch, { callerId, signal }), signal);
    } finally {
      turn.end();
    }
  };
  try {
    return await Promise.all(slicesOf(documents, reranker.limits.documents).map(send));
  } catch (error) {
    failure.abort(error);
    throw error;
  }
}

/** The provider was not asked. */
class SkippedError extends Error {
  override readonly name = 'SkippedError';
  readonly reason: 'paused' | 'busy';

  constructor(reason: SkippedError['reason'], cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

function toBusy(cause: unknown): never {
  throw new SkippedError('busy', cause);
}

/** Returns the reason of an error; null for an error that is no failure of the provider. */
function reasonOf(error: unknown): SkipReason | null {
  if (error instanceof SkippedError) return error.reason;
  if (error instanceof RerankError) return error.failure;
  return error instanceof UnavailableError ? 'unavailable' : null;
}

interface SeenFailure {
  readonly error: unknown;
  readonly reason: SkipReason;
  readonly callerId: string;
  readonly isUnusual: boolean;
}

function noteFailure(
  { pauses, onFailure }: Parts,
  { error, reason, callerId, isUnusual }: SeenFailure,
): void {
  switch (reason) {
    case 'paused':
    case 'busy':
      return;
    case 'refused':
      // The refusal is about this request. The next one may be another.
      break;
    case 'timeout':
    case 'unavailable':
    case 'bad_reply': {
      const pauseSeconds = error instanceof RerankError ? error.pauseSeconds : null;
      pauses.noteFailure(callerId, { pauseSeconds, isUnusual });
    }
  }
  onFailure(error, reason);
}

function joined(replies: readonly RerankScores[]): { scores: number[]; tokens: number } {
  return {
    scores: replies.flatMap(({ scores }) => scores),
    tokens: replies.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
  };
}

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
interface RerankPauses {
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
