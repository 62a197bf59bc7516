/** The facts about a state without its files. */
export interface StateSummary {
  readonly id: string;
  /** The group of the state. States of one group give way to each other first. */
  readonly group: string;
  readonly tokens: number;
  readonly bytes: number;
  readonly usedAt: number;
}

/** The states of a folder, in memory: manifests hold all tokens, and reading thousands of them takes seconds. */
export interface StateIndex {
  set(state: StateSummary): void;
  noteUse(id: string, usedAt: number): void;
  remove(id: string): void;
  list(): StateSummary[];
}

export function createStateIndex(states: readonly StateSummary[]): StateIndex {
  const known = new Map(states.map((state) => [state.id, state]));
  return {
    set: (state) => known.set(state.id, state),
    noteUse: (id, usedAt) => {
      const state = known.get(id);
      if (state) known.set(id, { ...state, usedAt });
    },
    remove: (id) => known.delete(id),
    list: () => [...known.values()],
  };
}

interface Room {
  /** The state that was just saved. */
  readonly kept: string;
  readonly maxBytes: number;
}

/**
 * Returns the states beyond the limit: always the least recently used one of the group with the most bytes, so that nobody
 * who fills the room removes states of others. A state that is larger than all room goes alone.
 */
export function chooseSpare(states: readonly StateSummary[], { kept, maxBytes }: Room): StateSummary[] {
  const vast = states.find(({ id, bytes }) => id === kept && bytes > maxBytes);
  if (vast) return [vast];
  const groups = groupsOf(states, kept);
  let bytes = sumOf(states);
  const spare: StateSummary[] = [];
  while (bytes > maxBytes) {
    const heaviest = groups
      .filter(({ oldest }) => oldest.length > 0)
      .reduce<Group | null>((most, group) => (most && most.bytes >= group.bytes ? most : group), null);
    const next = heaviest?.oldest.shift();
    if (!heaviest || !next) break;
    heaviest.bytes -= next.bytes;
    bytes -= next.bytes;
    spare.push(next);
  }
  return spare;
}

interface Group {
  bytes: number;
  /** The states that may go, the least recently used first. */
  readonly oldest: StateSummary[];
}

function groupsOf(states: readonly StateSummary[], kept: string): Group[] {
  const groups = new Map<string, StateSummary[]>();
  for (const state of states) {
    const group = groups.get(state.group);
    if (group) group.push(state);
    else groups.set(state.group, [state]);
  }
  return [...groups.values()].map((group) => ({
    bytes: sumOf(group),
    oldest: group.filter(({ id }) => id !== kept).sort((one, other) => one.usedAt - other.usedAt),
  }));
}

const sumOf = (states: readonly StateSummary[]) => states.reduce((sum, { bytes }) => sum + bytes, 0);
