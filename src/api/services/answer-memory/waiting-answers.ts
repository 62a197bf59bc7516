/** In which order and by which rules those who wait come in; one waits for one of the last three. */
export const PASSES = ['first', 'begun', 'small', 'large'] as const;
export type Pass = (typeof PASSES)[number];

export interface Waiter {
  readonly callerId: string;
  readonly kind: Exclude<Pass, 'first'>;
  readonly bytes: number;
  readonly grant: () => void;
}

export interface Admission {
  /** By which rules a waiter may come in, as its caller stands; null while that caller holds too much itself. */
  readonly passOf: (waiter: Waiter) => Pass | null;
  readonly hasRoom: (waiter: Waiter, pass: Pass) => boolean;
}

/** Those who wait for memory. */
export interface AnswerLines {
  enter(waiter: Waiter): void;
  leave(waiter: Waiter): void;
  /** Lets in the first who may; false when there is none. */
  callNext(): boolean;
  /** To be told when what a caller holds has changed. */
  update(callerId: string): void;
  waitingOf(callerId: string): number;
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
export function createAnswerLines({ passOf, hasRoom }: Admission): AnswerLines {
  const byCaller = new Map<string, Lines>();
  const ready: Ready = {
    first: new Set(),
    begun: new Set(),
    small: new Set(),
    large: new Set(),
  };
  let waiting = 0;

  const place = (lines: Lines) => {
    placeLines(lines, { ready, passOf });
  };
  const leave = (waiter: Waiter) => {
    const lines = byCaller.get(waiter.callerId);
    const line = lines?.[waiter.kind];
    const [head] = line ?? [];
    if (!lines || !line?.delete(waiter)) return;
    waiting -= 1;
    // A line whose first has left goes to the end: other callers come first now.
    if (head === waiter) for (const each of PASSES) ready[each].delete(line);
    place(lines);
    if (countOf(lines) === 0) byCaller.delete(waiter.callerId);
  };

  return {
    enter: (waiter) => {
      const lines = byCaller.get(waiter.callerId) ?? { begun: new Set(), small: new Set(), large: new Set() };
      byCaller.set(waiter.callerId, lines);
      lines[waiter.kind].add(waiter);
      waiting += 1;
      place(lines);
    },
    leave,
    callNext: () => {
      for (const pass of PASSES) {
        const [line] = ready[pass];
        const [head] = line ?? [];
        if (!line || !head || !hasRoom(head, pass)) continue;
        leave(head);
        head.grant();
        return true;
      }
      return false;
    },
    update: (callerId) => {
      const lines = byCaller.get(callerId);
      if (lines) place(lines);
    },
    waitingOf: (callerId) => countOf(byCaller.get(callerId)),
    get waiting() {
      return waiting;
    },
  };
}

/** Puts the lines of a caller where the caller stands now. A line that is in its place already keeps it. */
function placeLines(
  lines: Lines,
  { ready, passOf }: { readonly ready: Ready; readonly passOf: Admission['passOf'] },
): void {
  for (const [kind, line] of Object.entries(lines)) {
    const [head] = line;
    // What has begun comes before what would take its room, and then perhaps have to begin again itself.
    const mayGo = kind !== 'large' || lines.begun.size === 0;
    const pass = head && mayGo ? passOf(head) : null;
    for (const each of PASSES) if (each !== pass) ready[each].delete(line);
    if (pass) ready[pass].add(line);
  }
}

function countOf(lines: Readonly<Record<string, Line>> = {}): number {
  return Object.values(lines).reduce((sum, { size }) => sum + size, 0);
}
