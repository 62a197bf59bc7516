import { at } from '../at.js';
import { UnavailableError } from '../errors.js';
import { abortReason, createDeadline } from '../tools/aborting.js';
import { createTally } from '../tools/tally.js';
import type { DecayedUsage } from './decayed-usage.js';

/** A request for a turn. */
export interface TurnRequest {
  /** The name of the caller. Waiting callers take turns, however many times one of them waits. */
  readonly by?: string | undefined;
  /** By default the first kind that there is. */
  readonly kind?: string | undefined;
  /** Aborts the wait, so that a request that nobody waits for takes no turn. */
  readonly signal?: AbortSignal | undefined;
  /** True if it has had a turn before, and gave way. It is not refused then, however many wait. */
  readonly hasBegun?: boolean | undefined;
  /** Called in the moment in which the turn begins, before anybody else's. */
  readonly onBegin?: (() => void) | undefined;
}

/** The rank of a turn among the turns under way, and among waiting callers. */
export interface Standing {
  /** True if there are several places, all are taken, and this turn began last. */
  readonly isLast: boolean;
  /** True if there are several places, and its caller has all of them. */
  readonly hasAll: boolean;
  /** Requests that wait and go before it. */
  readonly before: number;
}

/** A turn that has begun. */
export interface Turn {
  /**
   * Tells whether it gives way to a request of an earlier kind, or to a request of another caller who has used less. Its
   * holder then ends the turn soon, and no more are told so than wait.
   *
   * @param leastOf the least time of the turn, in milliseconds
   */
  isWanted(leastOf?: (standing: Standing) => number): boolean;
  end(): void;
}

export interface Turns {
  /**
   * Waits for a turn.
   * @throws UnavailableError when too many wait; the signal's reason when it aborts
   */
  enter(request?: TurnRequest): Promise<Turn>;
  /** Runs a task in a turn. */
  run<Result>(task: (turn: Turn) => Promise<Result>, request?: TurnRequest): Promise<Result>;
  figures(): { readonly running: number; readonly waiting: number };
}

interface TurnLimits extends Omit<ShareLimits, 'maxAtOnce'> {
  readonly maxWaiting?: number;
  /** The usage of callers: the caller who has used least goes first. Without it, they take turns. */
  readonly usage?: DecayedUsage;
  readonly name?: string;
  /** Makes the error for whoever is refused because too many wait; by default an UnavailableError of this name. */
  readonly refusal?: () => Error;
  /** Kinds of requests; an earlier kind takes turns from a later one. */
  readonly kinds?: readonly string[];
  /**
   * The number of requests of an earlier kind that go before one of a later kind. Without it, kinds are equal when a turn
   * is free.
   */
  readonly maxOvertaking?: number;
  /** Tells whether one more of this kind may begin, in place of the shares of callers. */
  readonly mayBegin?: (kind: string, runningOf: (kind: string) => number) => boolean;
  /** The kinds whose turns take the places; all by default. */
  readonly holding?: readonly string[];
}

/**
 * Gives at most `maxAtOnce` turns at the same time. The other requests wait, and their callers
 * take turns. When more than `maxWaiting` wait, the newest request of the caller with the most of
 * them is refused, so that nobody fills the queue of others. Of callers who have as many, the one is refused who joined last,
 * of the latest kind. Only requests that have begun before may be more than that.
 */
export function createTurns(maxAtOnce: number, limits: TurnLimits = {}): Turns {
  const state = createState(maxAtOnce, limits);
  return {
    enter: (request = {}) => enter(state, request),
    run: async (task, request = {}) => {
      const turn = await enter(state, request);
      try {
        return await task(turn);
      } finally {
        turn.end();
      }
    },
    figures: () => ({ running: state.running.size, waiting: waitingIn(state) }),
  };
}

/** A taken turn and its holder. */
interface Place {
  readonly by: string;
  readonly kind: string;
  readonly since: number;
  isLeaving: boolean;
}

type State = ReturnType<typeof createState>;

function createState(maxAtOnce: number, limits: TurnLimits) {
  const { name = 'queue', kinds = [''], maxWaiting = Infinity, mayBegin } = limits;
  const shares = createShares({ ...limits, maxAtOnce });
  /** In the order in which they began. */
  const running = new Set<Place>();
  const runningOf = (kind: string) => [...running].filter((each) => each.kind === kind).length;
  return {
    maxAtOnce,
    maxWaiting,
    refusal: limits.refusal ?? (() => new UnavailableError(name)),
    usage: limits.usage ?? null,
    lines: kinds.map((kind) => ({ kind, queue: createWaitingLines() })),
    maxOvertaking: limits.maxOvertaking ?? null,
    /** Requests of an earlier kind that went before one of a later kind since the last of the later kind. */
    overtaking: 0,
    holding: limits.holding ?? kinds,
    shares,
    running,
    mayEnter: (by: string, kind: string) => mayBegin?.(kind, runningOf) ?? shares.mayEnter(by),
  };
}

const waitingIn = ({ lines }: State): number => lines.reduce((sum, { queue }) => sum + queue.waiting, 0);

async function enter(state: State, request: TurnRequest): Promise<Turn> {
  const { lines, shares } = state;
  const { by = '', signal, hasBegun: isKept = false } = request;
  signal?.throwIfAborted();
  shares.note(by);
  const { kind, queue } = lines.find((each) => each.kind === request.kind) ?? at(lines, 0);
  const begin = () => beginTurn(state, { by, kind }, request.onBegin);
  // A caller who waits already comes first, because a turn that ends is passed on.
  if (!queue.lines.has(by) && state.mayEnter(by, kind)) return begin();
  const turn = wait(queue, { by, isKept, signal, begin });
  if (!isKept && waitingIn(state) > state.maxWaiting)
    refuseNewest(
      lines.map((each) => each.queue),
      state.refusal(),
    );
  return await turn;
}

function beginTurn(state: State, { by, kind }: Pick<Place, 'by' | 'kind'>, onBegin?: () => void): Turn {
  const place: Place = { by, kind, since: performance.now(), isLeaving: false };
  const { running, shares } = state;
  running.add(place);
  shares.count(by, 1);
  const endUse = state.usage?.begin(by);
  onBegin?.();
  return {
    isWanted: (leastOf = () => 0) => {
      place.isLeaving ||= isWanted(state, place, leastOf);
      return place.isLeaving;
    },
    end: () => {
      if (!running.delete(place)) return;
      endUse?.();
      shares.count(by, -1);
      // More than one may enter when a caller has become alone.
      while (letNextIn(state));
    },
  };
}

interface Candidate {
  readonly queue: WaitingLines;
  readonly head: Head;
}

function letNextIn(state: State): boolean {
  const first = state.lines.flatMap(({ kind, queue }): Candidate[] => {
    const mayEnter = (by: string) => state.mayEnter(by, kind);
    const head = firstOf(queue, { mayEnter, usage: state.usage });
    return head ? [{ queue, head }] : [];
  });
  const next = first.length > 1 ? choose(state, first) : first[0];
  if (!next) return false;
  call(next.queue, next.head);
  return true;
}

/** Chooses among the first candidates of several kinds. */
function choose(state: State, first: readonly Candidate[]): Candidate | undefined {
  const { maxOvertaking, usage } = state;
  if (maxOvertaking === null) {
    const compare = ({ head: one }: Candidate, { head: other }: Candidate) => {
      const byUse = usage?.compare(one.by, other.by) ?? 0;
      return byUse === 0 ? one.waiter.since - other.waiter.since : byUse;
    };
    return first.toSorted(compare)[0];
  }
  const isEarlierNext = state.overtaking < maxOvertaking;
  state.overtaking = isEarlierNext ? state.overtaking + 1 : 0;
  return isEarlierNext ? first[0] : first.at(-1);
}

function isWanted(state: State, place: Place, leastOf: (standing: Standing) => number): boolean {
  const before = countBefore(state, place);
  const holders = [...state.running].filter(({ kind }) => state.holding.includes(kind));
  const isContested = state.maxAtOnce > 1 && holders.length >= state.maxAtOnce;
  const least = leastOf({
    before,
    isLast: isContested && holders.at(-1) === place,
    hasAll: isContested && holders.every(({ by }) => by === place.by),
  });
  if (performance.now() - place.since < least) return false;
  return before > holders.filter(({ isLeaving }) => isLeaving).length;
}

/**
 * Counts the waiting requests that go before a turn: all of earlier kinds, and in its own kind the requests of callers who
 * have used less.
 */
function countBefore({ lines, usage }: State, { by, kind }: Place): number {
  const usedBy = (caller: string) => usage?.used(caller) ?? 0;
  const own = lines.findIndex((each) => each.kind === kind);
  const earlier = lines.slice(0, own).reduce((sum, { queue }) => sum + queue.waiting, 0);
  const used = usedBy(by);
  let count = 0;
  for (const [other, line] of lines[own]?.queue.lines ?? [])
    if (other !== by && usedBy(other) < used) count += line.size;
  return earlier + count;
}

interface ShareLimits {
  readonly maxAtOnce: number;
  /** The number of turns that a caller may have at once while no other comes. A newcomer goes before this limit. */
  readonly maxAlone?: number | undefined;
  /** The number of turns that a caller may have at once while others have some. With it, nobody goes beyond `maxAtOnce`. */
  readonly maxPerCaller?: number | undefined;
}

/** A caller is not alone for this long after another came. */
const COMPANY_MILLISECONDS = 1_000;

/** Decides how many of the turns a caller may have. */
function createShares({ maxAtOnce, maxAlone = maxAtOnce, maxPerCaller }: ShareLimits) {
  const runningOf = createTally();
  let running = 0;
  let latest: string | null = null;
  let companyUntil = 0;
  return {
    /** Notes that a caller has come. */
    note: (by: string) => {
      if (latest !== null && latest !== by) companyUntil = performance.now() + COMPANY_MILLISECONDS;
      latest = by;
    },
    count: (by: string, change: 1 | -1) => {
      running += change;
      runningOf.add(by, change);
    },
    mayEnter: (by: string): boolean => {
      const own = runningOf.of(by);
      if (maxPerCaller !== undefined)
        return running < maxAtOnce && own < (own === running ? maxAlone : maxPerCaller);
      if (running < maxAtOnce) return true;
      if (maxAlone === maxAtOnce) return false;
      if (own === 0) return running < maxAlone + maxAtOnce;
      return running < maxAlone && performance.now() > companyUntil;
    },
  };
}

/** Waits for a turn for so long at most. Null when none came in time. */
export async function enterWithin(
  turns: Pick<Turns, 'enter'>,
  milliseconds: number,
  request: TurnRequest,
): Promise<Turn | null> {
  const deadline = createDeadline(milliseconds, request.signal);
  try {
    return await turns.enter({ ...request, signal: deadline.signal });
  } catch (error) {
    if (!deadline.isOver) throw error;
    return null;
  } finally {
    deadline.clear();
  }
}

/** The requests of one kind that wait for a turn: one line for each caller, and the callers in turn. */
interface WaitingLines {
  /** The number of requests in all lines. */
  waiting: number;
  /** The lines by caller. The first line belongs to the caller whose turn is next, since a map keeps the order of insertion. */
  readonly lines: Map<string, Set<Waiter>>;
}

interface Waiter {
  /** True if it is never refused for want of room in the queue. */
  readonly isKept: boolean;
  readonly since: number;
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
}

/** The first request of a caller. */
interface Head {
  readonly by: string;
  readonly waiter: Waiter;
}

export function createWaitingLines(): WaitingLines {
  return { waiting: 0, lines: new Map() };
}

interface Joining<Turn> {
  readonly by: string;
  readonly isKept: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called in the moment in which its turn comes. */
  readonly begin: () => Turn;
}

/** Joins the line of a caller at once. Resolves when it is this request's turn, and rejects with the signal's reason. */
export function wait<Turn>(queue: WaitingLines, { by, isKept, signal, begin }: Joining<Turn>): Promise<Turn> {
  return new Promise<Turn>((resolve, reject) => {
    const settle = () => {
      signal?.removeEventListener('abort', abort);
    };
    const waiter: Waiter = {
      isKept,
      since: performance.now(),
      enter: () => {
        settle();
        resolve(begin());
      },
      refuse: (error) => {
        settle();
        reject(error);
      },
    };
    const abort = () => {
      leave(queue, by, waiter);
      if (signal) waiter.refuse(abortReason(signal));
    };
    signal?.addEventListener('abort', abort, { once: true });
    const line = queue.lines.get(by) ?? new Set();
    queue.lines.set(by, line.add(waiter));
    queue.waiting += 1;
  });
}

interface Choice {
  readonly mayEnter: (by: string) => boolean;
  /** The usage of callers, which orders them; null when they take turns. */
  readonly usage: DecayedUsage | null;
}

/** Finds the first request of the next caller who may enter. */
function firstOf(queue: WaitingLines, { mayEnter, usage }: Choice): Head | null {
  let first: Head | null = null;
  for (const [by, [waiter]] of queue.lines) {
    if (!waiter || !mayEnter(by)) continue;
    if (!usage) return { by, waiter };
    if (!first || usage.compare(by, first.by) < 0) first = { by, waiter };
  }
  return first;
}

/** Lets a request in. Its line goes to the end, because the turn of the others comes first now. */
function call(queue: WaitingLines, { by, waiter }: Head): void {
  const line = queue.lines.get(by);
  leave(queue, by, waiter);
  if (line && queue.lines.delete(by)) queue.lines.set(by, line);
  waiter.enter();
}

/**
 * Refuses a request: of the longest lines that hold one which is not kept, the last line, and its newest such request. Earlier
 * queues are more urgent, and a newcomer puts nobody out who waits as long as it does. Those that are kept may be more than there
 * is room for; where there are no others, nothing is refused.
 */
export function refuseNewest(queues: readonly WaitingLines[], error: Error): void {
  let longest: { readonly size: number; readonly refuse: () => void } | null = null;
  for (const queue of queues)
    for (const [by, line] of queue.lines) {
      if (longest && line.size < longest.size) continue;
      const newest = [...line].findLast(({ isKept }) => !isKept);
      if (!newest) continue;
      const refuse = () => {
        leave(queue, by, newest);
        newest.refuse(error);
      };
      longest = { size: line.size, refuse };
    }
  longest?.refuse();
}

function leave(queue: WaitingLines, by: string, waiter: Waiter): void {
  const line = queue.lines.get(by);
  if (!line?.delete(waiter)) return;
  queue.waiting -= 1;
  if (line.size === 0) queue.lines.delete(by);
}
