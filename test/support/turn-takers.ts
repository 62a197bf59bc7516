import type { Turn, TurnRequest, Turns } from '../../src/shared/fair-scheduling/turns.js';
import { valueOf } from '../../src/shared/at.js';

/** Makes callers who ask for turns. Each has a name such as "ann 2", whose first word is the caller. */
export function createTakers(turns: Turns) {
  const begun: string[] = [];
  const errors = new Map<string, unknown>();
  const taken = new Map<string, Turn>();
  const settle = () => new Promise(setImmediate);
  return {
    /** The names of turns that have begun, in that order. */
    begun,
    /** By name: the errors of those who wait no more and have not begun. */
    errors,
    turn: (name: string): Turn => valueOf(taken, name),
    /** They ask one after the other. */
    ask: async (names: readonly string[], request: Omit<TurnRequest, 'by'> = {}) => {
      for (const name of names) {
        const by = name.split(' ')[0];
        turns.enter({ ...request, by, onBegin: () => begun.push(name) }).then(
          (turn) => taken.set(name, turn),
          (error: unknown) => errors.set(name, error),
        );
      }
      await settle();
    },
    end: async (...names: readonly string[]) => {
      for (const name of names) {
        valueOf(taken, name).end();
        await settle();
      }
    },
  };
}
