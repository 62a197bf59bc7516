import type { Destination } from './destinations.js';
import { FIRST_STATE, type GroupState } from './group-state.js';

/** The groups that are open, and what holds in the innermost. */
export interface GroupStack {
  current: GroupState;
  open(): void;
  /** Returns what the text of the group was for, where what holds it is for something else. */
  close(): Destination | undefined;
}

/** Groups within more than this many are a part of what holds them. */
const MAX_GROUP_DEPTH = 2_000;

export function createGroupStack(): GroupStack {
  const outer: GroupState[] = [];
  let tooDeep = 0;
  const stack: GroupStack = {
    current: FIRST_STATE,
    open: () => {
      if (outer.length >= MAX_GROUP_DEPTH) tooDeep += 1;
      else outer.push(stack.current);
    },
    close: () => {
      if (tooDeep > 0) {
        tooDeep -= 1;
        return undefined;
      }
      const state = outer.pop();
      if (!state) return undefined;
      const { destination } = stack.current;
      stack.current = state;
      return state.destination === destination ? undefined : destination;
    },
  };
  return stack;
}
