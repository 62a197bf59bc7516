import { createDeadline } from '../shared/tools/deadline.js';
import { TryLaterError } from '../shared/errors.js';
import type { Completer, CompletionOptions } from '../shared/ports.js';
import { createTurns } from '../shared/turns/turns.js';

/** Completions of a process under way: providers refuse, or queue, what is more than they take. */
const MAX_AT_ONCE = 64;
/** Of one caller while others have some, and while nobody else has. */
const MAX_PER_CALLER = 16;
const MAX_ALONE = 32;
/** Each holds its prompt while it waits. */
const MAX_WAITING = 1_000;
/** Less than after what time a stream begins without an event: its refusal still has a status of its own. */
const WAIT_MILLISECONDS = 8_000;
const RETRY_AFTER_SECONDS = 10;

/** A completer before which callers take turns; who finds none in time is told to try later. */
export function limitCompletions(
  completer: Completer,
  { waitMilliseconds = WAIT_MILLISECONDS }: { readonly waitMilliseconds?: number } = {},
): Completer {
  const turns = createTurns(MAX_AT_ONCE, {
    maxPerCaller: MAX_PER_CALLER,
    maxAlone: MAX_ALONE,
    maxWaiting: MAX_WAITING,
    name: 'completer',
  });
  const enter = async ({ callerId = '', signal }: CompletionOptions) => {
    const deadline = createDeadline(waitMilliseconds, signal);
    try {
      return await turns.enter({ by: callerId, signal: deadline.signal });
    } catch (cause) {
      if (!deadline.isOver) throw cause;
      const message = 'Too many completions are under way';
      throw new TryLaterError(message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
    } finally {
      deadline.clear();
    }
  };
  return {
    model: completer.model,
    contextWindow: completer.contextWindow,
    complete: async function* (prompt, options = {}) {
      const leave = await enter(options);
      try {
        yield* completer.complete(prompt, options);
      } finally {
        leave();
      }
    },
  };
}
