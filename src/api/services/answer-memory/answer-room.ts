import { createTally, type Tally } from '../../../shared/tools/tally.js';
import { createWaitingAnswers, type Holder, type Pass, type Waiter } from './waiting-answers.js';

/** The last part of the memory is reserved for callers who hold at most this much. */
const FIRST_BYTES = 256 * 1024;
/** Shares of the memory that all answers together, and the answers of one caller, may take. */
const SHARES = {
  first: { all: 1, own: 0 },
  begun: { all: 7 / 8, own: 5 / 8 },
  small: { all: 7 / 8, own: 5 / 8 },
  large: { all: 3 / 4, own: 1 / 2 },
} as const;

export type AnswerRoom = ReturnType<typeof createAnswerRoom>;

/** An answer that asks for room. */
type AnswerRequest = Omit<Waiter, 'grant' | 'answer'>;

/** Counts the held bytes, and lets in waiting answers. */
export function createAnswerRoom(limitBytes: number) {
  let held = 0;
  const byCaller = createTally();
  const byAnswer = new WeakMap<AbortSignal, number>();
  const heldBy = (answer: AbortSignal) => byAnswer.get(answer) ?? 0;
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
    waitingOf: (callerId: string) => lines.waitingOf(callerId),
    capped: (bytes: number) => capped(limitBytes, bytes),
    fits: (asked: AnswerRequest) => {
      const pass = passOf(asked);
      return pass !== null && hasRoom(asked, pass);
    },
    leftFor: (callerId: string) => bytesLeft(limitBytes, { own: byCaller.of(callerId), held }),
    change: ({ callerId, answer }: Holder, by: number) => {
      held += by;
      if (answer) byAnswer.set(answer, heldBy(answer) + by);
      byCaller.add(callerId, by);
      lines.update(callerId);
      if (by < 0) admit();
    },
    givesWay: () => byCaller.above(leastHeld(lines.firstForRoom(), byCaller)),
    holds: (answer: AbortSignal) => heldBy(answer) > 0,
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

/**
 * Returns the further bytes that an answer that has begun may take, when its caller holds `own` bytes and all callers
 * together `held`.
 */
function bytesLeft(limitBytes: number, { own, held }: { own: number; held: number }): number {
  const left = Math.min(limitBytes * SHARES.begun.own - own, limitBytes * SHARES.begun.all - held);
  return Math.max(0, Math.floor(left));
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
