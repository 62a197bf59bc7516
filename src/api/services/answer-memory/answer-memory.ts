import { addTo, sumOf } from '../../../shared/at.js';
import type { DocumentRecord } from '../../../shared/document.js';
import { toError, UnavailableError } from '../../../shared/errors.js';
import { createTally, type Tally } from '../../../shared/tools/tally.js';

/** A part of the memory is reserved for answers up to this size. */
const SMALL_BYTES = 256 * 1024;
const WAIT_MILLISECONDS = 5_000;

export interface Wanted {
  readonly callerId: string;
  readonly bytes: number;
  /** The signal of the request, by which its answer is known. */
  readonly signal?: AbortSignal | undefined;
}

export interface MemoryLease {
  /** Changes the size. Returns false, and changes nothing, if there is no room for it now. */
  resize(bytes: number): boolean;
  /**
   * Gives back the bytes of the lease, whose content the caller must have dropped, and waits for another size. It comes
   * before answers that have nothing yet. If something was sent already, it waits without end.
   * @throws UnavailableError when no memory becomes free in time
   */
  exchange(wanted: Omit<Wanted, 'callerId'> & { readonly isSent: boolean }): Promise<void>;
  /** Calling it again does nothing. */
  release(): void;
}

/** Limits the memory of this process that answers hold until their clients have received them. */
export interface AnswerMemory {
  /** Waits for memory, callers in turn. @throws UnavailableError when none becomes free in time, or too many wait */
  reserve(wanted: Wanted): Promise<MemoryLease>;
  /**
   * The same for an answer that is there already, and takes its memory while it waits: those of a caller that wait take no
   * more than its share again. @throws UnavailableError at once beyond that
   */
  keep(wanted: Wanted): Promise<MemoryLease>;
  /** Callers who hold more than one who waits, largest first: the slow connections of the first that has any should be cut off. */
  givesWay(): readonly string[];
  /** Tells whether the answer to the request with this signal holds memory now. */
  holds(answer: AbortSignal): boolean;
  figures(): { readonly held: number; readonly waiting: number };
}

export function createAnswerMemory({
  limitBytes,
  waitMilliseconds = WAIT_MILLISECONDS,
}: {
  readonly limitBytes: number;
  readonly waitMilliseconds?: number;
}): AnswerMemory {
  const room = createAnswerRoom(limitBytes);
  const take = async ({ callerId, bytes: wanted, signal }: Wanted, isMade: boolean) => {
    const bytes = room.capped(wanted);
    const kind = bytes <= SMALL_BYTES ? 'small' : 'large';
    const holder = { callerId, answer: signal };
    await waitForRoom(room, { ...holder, bytes, kind, isMade }, { signal, waitMilliseconds });
    return createLease(room, { holder, bytes, waitMilliseconds });
  };
  return {
    reserve: (wanted) => take(wanted, false),
    keep: (wanted) => take(wanted, true),
    givesWay: room.givesWay,
    holds: room.holds,
    figures: room.figures,
  };
}

/** @param options.bytes the bytes that were counted for it already */
function createLease(
  room: AnswerRoom,
  options: { readonly holder: Holder; readonly bytes: number; readonly waitMilliseconds: number },
): MemoryLease {
  const { holder } = options;
  const { callerId } = holder;
  const begun = { kind: 'begun', isMade: false } as const;
  let current = options.bytes;
  let isReleased = false;
  const set = (bytes: number) => {
    const by = bytes - current;
    current = bytes;
    if (by !== 0) room.change(holder, by);
  };
  const resize = (wanted: number) => {
    const bytes = room.capped(wanted);
    if (isReleased) return true;
    if (bytes > current && !room.fits({ ...begun, callerId, bytes: bytes - current })) return false;
    set(bytes);
    return true;
  };
  return {
    resize,
    exchange: async ({ bytes: wanted, signal, isSent }) => {
      if (resize(wanted)) return;
      const bytes = room.capped(wanted);
      const waitMilliseconds = isSent ? null : options.waitMilliseconds;
      // It stands in its line before others learn of the bytes that it gives back.
      const granted = waitForRoom(room, { ...begun, ...holder, bytes }, { signal, waitMilliseconds });
      set(0);
      await granted;
      if (isReleased) room.change(holder, -bytes);
      else current = bytes;
    },
    release: () => {
      isReleased = true;
      set(0);
    },
  };
}

/** The last part of the memory is reserved for callers who hold at most this much. */
const FIRST_BYTES = 256 * 1024;
/** Shares of the memory that all answers together, and the answers of one caller, may take. */
const SHARES = {
  first: { all: 1, own: 0 },
  begun: { all: 7 / 8, own: 5 / 8 },
  small: { all: 7 / 8, own: 5 / 8 },
  large: { all: 3 / 4, own: 1 / 2 },
} as const;

type AnswerRoom = ReturnType<typeof createAnswerRoom>;

/** An answer that asks for room. */
type AnswerRequest = Omit<Waiter, 'grant' | 'answer'>;

/** Counts the held bytes, and lets in waiting answers. */
function createAnswerRoom(limitBytes: number) {
  let held = 0;
  const byCaller = createTally();
  const byAnswer = new WeakMap<AbortSignal, number>();
  const hasRoom = (asked: AnswerRequest, pass: Pass) => held + asked.bytes <= limitBytes * SHARES[pass].all;
  const passOf = ({ callerId, bytes, kind }: AnswerRequest) =>
    passFor(limitBytes, { own: byCaller.of(callerId) + bytes, kind });
  const lines = createWaitingAnswers({ passOf, hasRoom });
  const admit = () => {
    while (lines.callNext());
  };

  return {
    /** Puts an answer into its line, and lets in who may. */
    enter: (waiter: Waiter) => {
      lines.enter(waiter);
      admit();
    },
    /** Somebody may have stood behind it. */
    leave: (waiter: Waiter) => {
      lines.leave(waiter);
      admit();
    },
    /** Tells whether a caller has more waiting than it may, now that an answer has come to it. */
    hasTooMany: (callerId: string) =>
      lines.waitingOf(callerId) > MAX_WAITING || lines.madeOf(callerId) > limitBytes * SHARES.large.own,
    capped: (bytes: number) => capped(limitBytes, bytes),
    fits: (asked: AnswerRequest) => {
      const pass = passOf(asked);
      return pass !== null && hasRoom(asked, pass);
    },
    change: ({ callerId, answer }: Holder, by: number) => {
      held += by;
      if (answer) addTo(byAnswer, answer, by);
      byCaller.add(callerId, by);
      lines.update(callerId);
      if (by < 0) admit();
    },
    givesWay: () => byCaller.above(leastHeld(lines.firstForRoom(), byCaller)),
    holds: (answer: AbortSignal) => sumOf(byAnswer, answer) > 0,
    figures: () => ({ held, waiting: lines.waiting }),
  };
}

/**
 * Returns the bytes that count for an answer. An answer that is larger than a caller's share comes when the caller has
 * nothing else, and counts as that share.
 */
function capped(limitBytes: number, bytes: number): number {
  return Math.min(bytes, Math.floor(limitBytes * SHARES.large.own));
}

/** Returns the rules by which an answer may come in with which its caller holds `own` bytes; null while that is too much. */
function passFor(limitBytes: number, { own, kind }: { own: number; kind: Waiter['kind'] }): Pass | null {
  if (own <= FIRST_BYTES) return 'first';
  return own <= limitBytes * SHARES[kind].own ? kind : null;
}

/** Returns the bytes of the waiting caller who holds least. */
function leastHeld(waiters: readonly Waiter[], byCaller: Tally): number {
  return waiters.reduce((least, { callerId }) => Math.min(least, byCaller.of(callerId)), Infinity);
}

/** Answers of one caller that may wait. */
const MAX_WAITING = 100;

interface Patience {
  readonly signal: AbortSignal | undefined;
  /** null: as long as it takes. */
  readonly waitMilliseconds: number | null;
}

/**
 * Resolves when there is room, which is then counted. @throws UnavailableError when none comes; the reason of the signal
 * when it aborts
 */
function waitForRoom(
  room: AnswerRoom,
  asked: Omit<Waiter, 'grant'>,
  { signal, waitMilliseconds }: Patience,
): Promise<void> {
  if (signal?.aborted !== true && room.figures().waiting === 0 && room.fits(asked)) {
    // Nearly all answers come in like this, without a place in a line, a timer and a listener.
    room.change(asked, asked.bytes);
    return Promise.resolve();
  }
  return new Promise<void>((resolve, reject) => {
    const state = { isWaiting: true };
    const stop = () => {
      state.isWaiting = false;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const grant = () => {
      stop();
      room.change(asked, asked.bytes);
      resolve();
    };
    const waiter: Waiter = { ...asked, grant };
    const refuse = (error: unknown) => {
      stop();
      reject(toError(error));
      room.leave(waiter);
    };
    const onAbort = () => {
      refuse(signal?.reason);
    };
    const timer = setPatience(waitMilliseconds, () => {
      refuse(noRoom());
    });
    signal?.addEventListener('abort', onAbort);
    room.enter(waiter);
    if (signal?.aborted === true) onAbort();
    else if (state.isWaiting && isOneTooMany(room, asked)) refuse(noRoom());
  });
}

/** The timer does not keep a process alive that has nothing else to do. */
function setPatience(milliseconds: number | null, onOver: () => void): NodeJS.Timeout | undefined {
  return milliseconds === null ? undefined : setTimeout(onOver, milliseconds).unref();
}

const isOneTooMany = (room: AnswerRoom, { callerId, kind }: Omit<Waiter, 'grant'>): boolean =>
  kind !== 'begun' && room.hasTooMany(callerId);

const noRoom = () => new UnavailableError('memory for large answers', { retryAfterSeconds: 5 });

/** Estimates the memory of a JSON value in bytes. Strings count two bytes for each UTF-16 unit. */
export function heldSize(value: unknown): number {
  if (typeof value === 'string') return 16 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 32;
  for (const [name, inner] of Object.entries(value)) size += 16 + 2 * name.length + heldSize(inner);
  return size;
}

/** Estimates the memory of a record without the ids of its chunks. */
export function heldByRecord({ metadata, readers, writers, admins }: DocumentRecord): number {
  return heldSize([metadata, readers, writers, admins]) + 2_000;
}

/** The passes by which waiting answers come in, in their order; each waits for one of the last three. */
const PASSES = ['first', 'begun', 'small', 'large'] as const;
type Pass = (typeof PASSES)[number];

/** The holder of memory: a caller, and the answer itself, which is known by the signal of its request. */
interface Holder {
  readonly callerId: string;
  readonly answer: AbortSignal | undefined;
}

interface Waiter extends Holder {
  readonly kind: Exclude<Pass, 'first'>;
  readonly bytes: number;
  /** True if it takes these bytes while it waits. */
  readonly isMade: boolean;
  readonly grant: () => void;
}

interface Admission {
  /** Returns the pass by which a waiter may come in, as its caller stands; null while that caller holds too much itself. */
  readonly passOf: (waiter: Waiter) => Pass | null;
  readonly hasRoom: (waiter: Waiter, pass: Pass) => boolean;
}

/** The lines of answers that wait for memory. */
interface AnswerLines {
  enter(waiter: Waiter): void;
  leave(waiter: Waiter): void;
  /** Lets in the first who may; false when there is none. */
  callNext(): boolean;
  /** Called when the bytes that a caller holds have changed. */
  update(callerId: string): void;
  waitingOf(callerId: string): number;
  /** The bytes that waiting answers of a caller take already. */
  madeOf(callerId: string): number;
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
function createWaitingAnswers({ passOf, hasRoom }: Admission): AnswerLines {
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
    madeOf: (callerId) => bytesMade(state.byCaller.get(callerId)),
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

const bytesMade = (lines: Readonly<Record<string, Line>> = {}): number =>
  Object.values(lines)
    .flatMap((line) => [...line])
    .reduce((sum, { bytes, isMade }) => sum + (isMade ? bytes : 0), 0);
