/** The passes by which waiting answers come in, in their order; each waits for one of the last three. */
const PASSES = ['first', 'begun', 'small', 'large'] as const;
export type Pass = (typeof PASSES)[number];

/** The holder of memory: a caller, and the answer itself, which is known by the signal of its request. */
export interface Holder {
  readonly callerId: string;
  readonly answer: AbortSignal | undefined;
}

export interface Waiter extends Holder {
  readonly kind: Exclude<Pass, 'first'>;
  readonly bytes: number;
  readonly grant: () => void;
}

export interface Admission {
  /** Returns the pass by which a waiter may come in, as its caller stands; null while that caller holds too much itself. */
  readonly passOf: (waiter: Waiter) => Pass | null;
  readonly hasRoom: (waiter: Waiter, pass: Pass) => boolean;
}

/** The lines of answers that wait for memory. */
export interface AnswerLines {
  enter(waiter: Waiter): void;
  leave(waiter: Waiter): void;
  /** Lets in the first who may; false when there is none. */
  callNext(): boolean;
  /** Called when the bytes that a caller holds have changed. */
  update(callerId: string): void;
  waitingOf(callerId: string): number;
  /** The first of each line whose caller may have it, and for which there is no room. */
  firstForRoom(): Waiter[];
  readonly waiting: number;
}

type Line = Set<Waiter>;
type Lines = Readonly<Record<Waiter['kind'], Line>>;
/** Lines that may come in as their callers stand, by the rules that let them. */
type Ready = Readonly<Record<Pass, Set<Line>>>;

/**
 * One line for each caller and kind, callers in turn. Only lines that may come in as their callers stand are looked at,
 * each kind up to the first for which there is no room: so a call costs the same however many wait.
 */
export function createWaitingAnswers({ passOf, hasRoom }: Admission): AnswerLines {
  const state: State = { byCaller: new Map(), ready: newReady(), waiting: 0, passOf };
  return {
    enter: (waiter) => {
      enter(state, waiter);
    },
    leave: (waiter) => {
      leave(state, waiter);
    },
    callNext: () => {
      const head = nextOf(state.ready, hasRoom);
      if (!head) return false;
      leave(state, head);
      head.grant();
      return true;
    },
    update: (callerId) => {
      const lines = state.byCaller.get(callerId);
      if (lines) placeLines(lines, state);
    },
    waitingOf: (callerId) => countOf(state.byCaller.get(callerId)),
    firstForRoom: () => PASSES.flatMap((pass) => [...state.ready[pass]].flatMap(([head]) => head ?? [])),
    get waiting() {
      return state.waiting;
    },
  };
}

interface State {
  readonly byCaller: Map<string, Lines>;
  readonly ready: Ready;
  readonly passOf: Admission['passOf'];
  waiting: number;
}

const newReady = (): Ready => ({ first: new Set(), begun: new Set(), small: new Set(), large: new Set() });
const newLines = (): Lines => ({ begun: new Set(), small: new Set(), large: new Set() });

function enter(state: State, waiter: Waiter): void {
  const lines = state.byCaller.get(waiter.callerId) ?? newLines();
  state.byCaller.set(waiter.callerId, lines);
  lines[waiter.kind].add(waiter);
  state.waiting += 1;
  placeLines(lines, state);
}

function leave(state: State, waiter: Waiter): void {
  const lines = state.byCaller.get(waiter.callerId);
  const line = lines?.[waiter.kind];
  const [head] = line ?? [];
  if (!lines || !line?.delete(waiter)) return;
  state.waiting -= 1;
  // A line whose first has left goes to the end: other callers come first now.
  if (head === waiter) for (const each of PASSES) state.ready[each].delete(line);
  placeLines(lines, state);
  if (countOf(lines) === 0) state.byCaller.delete(waiter.callerId);
}

/** The first who may come in. */
function nextOf(ready: Ready, hasRoom: Admission['hasRoom']): Waiter | null {
  for (const pass of PASSES) {
    const [line] = ready[pass];
    const [head] = line ?? [];
    if (head && hasRoom(head, pass)) return head;
  }
  return null;
}

/** Puts the lines of a caller where the caller stands now. A line that is in its place already keeps it. */
function placeLines(lines: Lines, { ready, passOf }: State): void {
  for (const [kind, line] of Object.entries(lines)) {
    const [head] = line;
    // An answer that has begun comes before one that would take its room, and then perhaps have to begin again itself.
    const mayGo = kind !== 'large' || lines.begun.size === 0;
    const pass = head && mayGo ? passOf(head) : null;
    for (const each of PASSES) if (each !== pass) ready[each].delete(line);
    if (pass) ready[pass].add(line);
  }
}

function countOf(lines: Readonly<Record<string, Line>> = {}): number {
  return Object.values(lines).reduce((sum, { size }) => sum + size, 0);
}
