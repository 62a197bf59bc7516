import { setImmediate as endOfTurn } from 'node:timers/promises';

/** Computes answers while Redis is asked whether there are changes, which takes as long as many a search. */
export interface EarlyAnswers {
  /**
   * Waits until the mirror has all changes, and computes meanwhile what it would answer without any.
   * @returns null when that is not the answer, because there were changes or are about to be
   */
  during<Answer>(untilFresh: Promise<unknown>, compute: () => Answer): Promise<Answer | null>;
}

/** While changes come, nothing is computed early, since it would often be computed twice. */
const QUIET_MILLISECONDS = 250;

/**
 * @param parts.changes how often the mirror has changed
 * @param parts.isWhole whether nothing is missing in it that was published
 */
export function createEarlyAnswers({
  changes,
  isWhole,
  now = Date.now,
}: {
  readonly changes: () => number;
  readonly isWhole: () => boolean;
  readonly now?: () => number;
}): EarlyAnswers {
  let seen = changes();
  let changedAt = now();
  const isQuiet = () => {
    if (changes() !== seen) {
      seen = changes();
      changedAt = now();
    }
    return now() - changedAt >= QUIET_MILLISECONDS;
  };
  return {
    during: async (untilFresh, compute) => {
      const early = isQuiet() ? afterSending(() => ({ answer: compute(), at: changes() })) : null;
      const [computed] = await Promise.all([early, untilFresh]);
      isQuiet();
      return computed?.at === changes() && isWhole() ? computed.answer : null;
    },
  };
}

/** The client of Redis writes commands at the end of a turn of the event loop, and so before this. */
async function afterSending<Value>(compute: () => Value): Promise<Value> {
  await endOfTurn();
  return compute();
}
