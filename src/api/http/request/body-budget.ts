import { TryLaterError } from '../../../shared/errors.js';
import { createRoom, type Missing, type Room } from './body-room.js';

/** The share of the budget that one request holds. */
export interface BodyClaim {
  /** Increases the claim to `bytes` in all. @throws TryLaterError when they do not fit */
  grow(bytes: number): void;
  /** Reduces the claim to at most `bytes` in all. */
  shrink(bytes: number): void;
  /**
   * Until the returned function is called, `giveUp` may be called when others need the memory and nothing has arrived for
   * a while. By then the claim is released.
   */
  whileReading(giveUp: () => void): () => void;
  /** Must be called whatever happens; calling it again does nothing. */
  release(): void;
}

/**
 * Limits the bytes of request bodies that this process holds at once, until their content is stored. Claims grow with what
 * has arrived, not with what was announced, and are refused rather than queued. So announcing a large body reserves
 * nothing, and requests cannot deadlock.
 */
export interface BodyBudget {
  claim(holder: string): BodyClaim;
  /** Returns the bytes that are held now. */
  heldBytes(): number;
}

/** Claims grow in steps of this size, so that a slow sender does not cause an update for each byte. */
const STEP_BYTES = 16 * 1024;
/** Searches, usual texts and changes are not longer. They have room of their own, so that large bodies cannot take it. */
const SMALL_BYTES = 64 * 1024;
const RETRY_SECONDS = 2;

export interface BodyBudgetOptions {
  readonly maxBytes: number;
  /** Most bytes for one caller, or for all anonymous callers together, so that a slow sender leaves some to others. */
  readonly shareBytes: number;
  /** A body of which no 16 KiB have arrived for so long gives way to others. */
  readonly idleMilliseconds?: number;
}

export function createBodyBudget(options: BodyBudgetOptions): BodyBudget {
  const { maxBytes, shareBytes, idleMilliseconds = 5_000 } = options;
  const small = createRoom(maxBytes / 8, maxBytes / 64);
  const large = createRoom(maxBytes, shareBytes);
  /** Claims whose bodies are still arriving, those that have grown last at the end. */
  const reading = new Map<Claim, () => void>();

  const fit = (claim: Claim, bytes: number): Room | null => {
    const rooms = bytes <= SMALL_BYTES ? [small, large] : [large];
    return rooms.find((room) => room.misses(claim.holder, bytes) === null) ?? null;
  };
  const endIdle = (claim: Claim, missing: Missing | null): boolean => {
    const [other, giveUp] = findIdle(reading, { claim, missing, room: large, idleMilliseconds }) ?? [];
    if (!other) return false;
    reading.delete(other);
    put(other, 0, null);
    other.isOver = true;
    giveUp?.();
    return true;
  };
  const grow = (claim: Claim, bytes: number) => {
    if (claim.isOver) throw full();
    const { room: before, bytes: held } = claim;
    put(claim, 0, null);
    let room = fit(claim, bytes);
    while (!room && endIdle(claim, large.misses(claim.holder, bytes))) room = fit(claim, bytes);
    if (!room) {
      put(claim, held, before);
      throw full();
    }
    put(claim, bytes, room);
    claim.grownAt = performance.now();
    const giveUp = reading.get(claim);
    if (!giveUp) return;
    reading.delete(claim);
    reading.set(claim, giveUp);
  };

  return {
    heldBytes: () => small.held() + large.held(),
    claim: (holder) => {
      const claim: Claim = { holder, bytes: 0, room: null, grownAt: performance.now(), isOver: false };
      return {
        grow: (bytes) => {
          const wanted = Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
          if (wanted > claim.bytes || claim.isOver) grow(claim, wanted);
        },
        shrink: (bytes) => {
          if (bytes < claim.bytes) put(claim, bytes, claim.room);
        },
        whileReading: (giveUp) => {
          reading.set(claim, giveUp);
          return () => reading.delete(claim);
        },
        release: () => {
          put(claim, 0, null);
        },
      };
    },
  };
}

function put(claim: Claim, bytes: number, room: Room | null): void {
  claim.room?.add(claim.holder, -claim.bytes);
  room?.add(claim.holder, bytes);
  claim.bytes = bytes;
  claim.room = room;
}

interface InTheWay {
  readonly claim: Claim;
  readonly missing: Missing | null;
  readonly room: Room;
  readonly idleMilliseconds: number;
}

/** The body that has been idle for longest of those that take what a claim misses. */
function findIdle(
  reading: ReadonlyMap<Claim, () => void>,
  { claim, missing, room, idleMilliseconds }: InTheWay,
): [Claim, () => void] | null {
  const idleSince = performance.now() - idleMilliseconds;
  for (const [other, giveUp] of reading) {
    if (other.grownAt > idleSince) return null;
    if (other === claim || other.room !== room) continue;
    if (missing === 'all' || other.holder === claim.holder) return [other, giveUp];
  }
  return null;
}

interface Claim {
  readonly holder: string;
  bytes: number;
  room: Room | null;
  grownAt: number;
  /** It gave way to others. */
  isOver: boolean;
}

const full = () => new TryLaterError('Too many large requests at once', { retryAfterSeconds: RETRY_SECONDS });
