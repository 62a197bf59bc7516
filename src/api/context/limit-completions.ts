import { TryLaterError } from '../../shared/errors.js';
import type { Completer, CompletionOptions } from '../../shared/ports.js';
import { enterWithin, createTurns } from '../../shared/fair-scheduling/turns.js';
import { modelsAddressesOf } from '../../shared/local-models/processes/models-address.js';
import type { Settings } from '../../shared/settings/schema.js';

/** A process has at most this many completions under way. Providers refuse or queue further ones. */
const MAX_AT_ONCE = 64;
/** One caller has at most this many while others have some. */
const MAX_PER_CALLER = 16;
/** One caller has at most this many while nobody else has any. */
const MAX_ALONE = 32;
/** At most this many completions wait, because each holds its prompt meanwhile. */
const MAX_WAITING = 1_000;
/** A stream begins after 10 s even without an event. A refusal must come before, so that it can have its own status. */
const WAIT_MILLISECONDS = 8_000;
const RETRY_AFTER_SECONDS = 10;

interface LimitOptions {
  readonly waitMilliseconds?: number;
  /** The greatest number of completions that one caller has under way, alone or not. */
  readonly ofCaller?: number;
}

/** Makes a function that wraps completers so that callers take turns at all of them together. */
export function createCompletionLimit({ waitMilliseconds = WAIT_MILLISECONDS, ofCaller }: LimitOptions = {}) {
  const turns = createTurns(MAX_AT_ONCE, {
    maxPerCaller: ofCaller ?? MAX_PER_CALLER,
    maxAlone: ofCaller ?? MAX_ALONE,
    maxWaiting: MAX_WAITING,
    name: 'completer',
  });
  const enter = async ({ callerId = '', signal }: CompletionOptions) => {
    const turn = await enterWithin(turns, waitMilliseconds, { by: callerId, signal });
    if (turn) return turn;
    const message = 'Too many completions are under way';
    throw new TryLaterError(message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  };
  return (completer: Completer): Completer => ({
    model: completer.model,
    contextWindow: completer.contextWindow,
    complete: async function* (prompt, options = {}) {
      const turn = await enter(options);
      try {
        yield* completer.complete(prompt, options);
      } finally {
        turn.end();
      }
    },
  });
}

/**
 * The same for models on this host, which answer a few at once and in the order of arrival: one caller must not have sent
 * more there than they answer at once, or others wait behind all of it. The wait is here instead, as long as it was there.
 */
export const createLocalCompletionLimit = (
  settings: Pick<Settings, 'models' | 'completion'>,
): ReturnType<typeof createCompletionLimit> =>
  createCompletionLimit({
    ofCaller: settings.models.conversations * modelsAddressesOf(settings).length,
    waitMilliseconds: settings.completion.timeoutSeconds * 1_000,
  });

/**
 * Wraps a completer so that callers take turns at it.
 * @throws TryLaterError, while the completion is read, when no turn comes in time
 */
export const limitCompletions = (completer: Completer, options: LimitOptions = {}): Completer =>
  createCompletionLimit(options)(completer);
