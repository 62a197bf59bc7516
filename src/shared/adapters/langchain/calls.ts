import { toError, UnavailableError } from '../../errors.js';
import { enterWithin, createTurns } from '../../fair-scheduling/turns.js';
import { createDeadline, untilAborted, type Deadline } from '../../tools/aborting.js';
import type { TooLong } from '../../provider-http/too-long.js';
import { describeFailure, tooLongOf, isTranslated, unavailable } from './failures.js';

/** Gives a place back, once the work that was begun in it has ended. */
type Leave = (begun: Promise<unknown>) => void;

export interface Calls {
  readonly timeoutMilliseconds: number;
  /** Waits shortly for a place. @throws UnavailableError when there is none; the signal's reason when it aborts */
  enter(signal?: AbortSignal): Promise<Leave>;
  /**
   * Makes a call that cannot be ended. It is abandoned when it takes too long or the signal aborts: its outcome is dropped.
   * @throws the signal's reason when it aborts, else the error from `translate`
   */
  run<Reply>(start: () => Promise<Reply>, signal?: AbortSignal): Promise<Reply>;
  /** Makes the error to throw for one of the package. */
  translate(error: unknown, deadline: Deadline, signal?: AbortSignal): Error;
}

interface CallsOptions {
  readonly component: string;
  /** The number of calls that may be under way, abandoned ones included. */
  readonly atOnce: number;
  readonly timeoutMilliseconds: number;
  /** Makes the error for a request that the provider refuses; without it, the provider is unavailable. */
  readonly refuse?: (cause: Error, tooLong: TooLong | null) => Error;
  /** The time for which an abandoned call holds its place, for tests. */
  readonly forgetMilliseconds?: number;
}

/** The names of the providers in errors to callers. */
export const COMPLETION_PROVIDER = 'completion provider';
export const EMBEDDING_PROVIDER = 'embedding provider';

const PATIENCE_MILLISECONDS = 5_000;
const MAX_WAITING = 10_000;
/**
 * An abandoned call holds its place until it ends, so that a silent provider does not gather more and more of them. One that
 * has not ended by then never will, and must not keep a place for ever.
 */
const FORGET_MILLISECONDS = 900_000;

export function createCalls(options: CallsOptions): Calls {
  const { timeoutMilliseconds } = options;
  const enter = createEntrance(options);
  const translate = createTranslation(options);
  const run = async <Reply>(start: () => Promise<Reply>, signal?: AbortSignal): Promise<Reply> => {
    const leave = await enter(signal);
    const deadline = createDeadline(timeoutMilliseconds, signal);
    let begun: Promise<unknown> = Promise.resolve();
    try {
      const reply = start();
      begun = reply;
      return await untilAborted(reply, deadline.signal);
    } catch (error) {
      throw translate(error, deadline, signal);
    } finally {
      deadline.clear();
      leave(begun);
    }
  };
  return { timeoutMilliseconds, enter, run, translate };
}

function createEntrance({ component, atOnce, timeoutMilliseconds, forgetMilliseconds }: CallsOptions) {
  const turns = createTurns(atOnce, { maxWaiting: MAX_WAITING, name: component });
  return async (signal?: AbortSignal): Promise<Leave> => {
    const turn = await enterWithin(turns, Math.min(PATIENCE_MILLISECONDS, timeoutMilliseconds), { signal });
    if (!turn) {
      const cause = new Error('too many calls of the provider have not ended');
      throw new UnavailableError(component, { cause });
    }
    return (begun) => {
      const forgetting = setTimeout(() => turn.end(), forgetMilliseconds ?? FORGET_MILLISECONDS).unref();
      void Promise.allSettled([begun]).then(() => {
        clearTimeout(forgetting);
        turn.end();
      });
    };
  };
}

function createTranslation({ component, refuse }: CallsOptions): Calls['translate'] {
  return (error, deadline, signal) => {
    if (signal?.aborted === true) return toError(signal.reason);
    if (deadline.isOver) {
      return new UnavailableError(component, { cause: new Error('the provider took too long') });
    }
    if (isTranslated(error)) return error;
    const failure = describeFailure(error);
    if (failure.kind === 'refused' && refuse) return refuse(failure.cause, tooLongOf(error));
    return unavailable(component, failure);
  };
}
