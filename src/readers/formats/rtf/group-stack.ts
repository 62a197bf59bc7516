import type { Destination } from './destinations.js';
import { FIRST_STATE, type GroupState } from './group-state.js';

/** The open groups, and the state that holds in the innermost. */
export interface GroupStack {
  current: GroupState;
  open(): void;
  /** Returns the purpose of the group's text, where the outer group has another one. */
  close(): Destination | undefined;
}

/** Groups within more than this many are a part of their outer group. */
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
