import { TryLaterError } from '../../../shared/errors.js';
import { createTally } from '../../../shared/tools/tally.js';

/** The share of the budget that one request holds. */
export interface BodyClaim {
  /** Increases the claim to `bytes` in all. @throws TryLaterError when they do not fit */
  grow(bytes: number): void;
  /** Reduces the claim to at most `bytes` in all. */
  shrink(bytes: number): void;
  /**
   * Allows this claim to be ended while its body arrives: when no bytes have come for a while and another claim needs the
   * memory, the claim is released and `giveUp` is called. The returned function withdraws the permission.
   */
  whileReading(giveUp: () => void): () => void;
  /** Must be called whatever happens; calling it again does nothing. */
  release(): void;
}

/**
 * Limits the bytes of request bodies that this process holds at once, until their content is stored. Claims grow with the
 * arrived bytes, not with the announced ones, and are refused rather than queued. So announcing a large body reserves
 * nothing, and requests cannot deadlock.
 */
export interface BodyBudget {
  claim(holder: string): BodyClaim;
  /** Returns the bytes that are held now. */
  heldBytes(): number;
}

/** Claims grow in steps of this size, so that a slow sender does not cause an update for each byte. */
const STEP_BYTES = 16 * 1024;
/** Searches, changes and most texts are not longer than this. They have room of their own, which large bodies cannot take. */
const SMALL_BYTES = 64 * 1024;
const RETRY_SECONDS = 2;

export interface BodyBudgetOptions {
  readonly maxBytes: number;
  /** The maximum for one caller, or for all anonymous callers together, so that a slow sender leaves room to others. */
  readonly shareBytes: number;
  /**
   * The time after which a body may be ended when another one needs its room, if fewer than 16 KiB of it have arrived
   * meanwhile.
   */
  readonly idleMilliseconds?: number;
}

export function createBodyBudget(options: BodyBudgetOptions): BodyBudget {
  const { maxBytes, shareBytes, idleMilliseconds = 5_000 } = options;
  const small = createByteShares(maxBytes / 8, maxBytes / 64);
  const large = createByteShares(maxBytes, shareBytes);
  const account: Account = { small, large, reading: new Map(), idleMilliseconds };
  return {
    heldBytes: () => small.held() + large.held(),
    claim: (holder) => openClaim(account, holder),
  };
}

interface Account {
  readonly small: ByteShares;
  readonly large: ByteShares;
  /** Claims whose bodies are still arriving, and the functions that end them. The claim that grew last is at the end. */
  readonly reading: Map<Claim, () => void>;
  readonly idleMilliseconds: number;
}

function openClaim(account: Account, holder: string): BodyClaim {
  const claim: Claim = { holder, bytes: 0, room: null, grownAt: performance.now(), isOver: false };
  return {
    grow: (bytes) => {
      if (claim.isOver) throw full();
      const wanted = Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
      if (wanted > claim.bytes) grow(account, claim, wanted);
    },
    shrink: (bytes) => {
      if (bytes < claim.bytes) put(claim, bytes, claim.room);
    },
    whileReading: (giveUp) => {
      account.reading.set(claim, giveUp);
      return () => account.reading.delete(claim);
    },
    release: () => {
      put(claim, 0, null);
    },
  };
}

/** @throws TryLaterError when there is no room, and no idle body whose end would make room */
function grow(account: Account, claim: Claim, bytes: number): void {
  const { room: before, bytes: held } = claim;
  put(claim, 0, null);
  let room = findRoom(account, claim, bytes);
  while (!room && endIdle(account, claim, bytes)) room = findRoom(account, claim, bytes);
  put(claim, room ? bytes : held, room ?? before);
  if (!room) throw full();
  claim.grownAt = performance.now();
  const giveUp = account.reading.get(claim);
  if (!giveUp) return;
  account.reading.delete(claim);
  account.reading.set(claim, giveUp);
}

function findRoom({ small, large }: Account, { holder }: Claim, bytes: number): ByteShares | null {
  const rooms = bytes <= SMALL_BYTES ? [small, large] : [large];
  return rooms.find((room) => room.misses(holder, bytes) === null) ?? null;
}

/**
 * Ends the body that has been idle for longest among the bodies whose end makes room for a claim. Returns false when there
 * is none.
 */
function endIdle(account: Account, claim: Claim, bytes: number): boolean {
  const { large, reading, idleMilliseconds } = account;
  const missing = large.misses(claim.holder, bytes);
  const idleSince = performance.now() - idleMilliseconds;
  for (const [other, giveUp] of reading) {
    if (other.grownAt > idleSince) return false;
    if (other === claim || other.room !== large) continue;
    if (missing === 'share' && other.holder !== claim.holder) continue;
    reading.delete(other);
    put(other, 0, null);
    other.isOver = true;
    giveUp();
    return true;
  }
  return false;
}

/** Sets how many bytes a claim holds, and in which room. */
function put(claim: Claim, bytes: number, room: ByteShares | null): void {
  claim.room?.add(claim.holder, -claim.bytes);
  room?.add(claim.holder, bytes);
  claim.bytes = bytes;
  claim.room = room;
}

interface Claim {
  readonly holder: string;
  bytes: number;
  room: ByteShares | null;
  grownAt: number;
  /** True if the claim was ended to make room for another one. */
  isOver: boolean;
}

const full = () => new TryLaterError('Too many large requests at once', { retryAfterSeconds: RETRY_SECONDS });

/** The room that is used up: the holder's own share, or the room of all holders together. */
type Missing = 'share' | 'all';

/** Counts the bytes that holders have, and limits the bytes of each holder and of all together. */
interface ByteShares {
  /** Returns the limit that `bytes` more would exceed; null when they fit. */
  misses(holder: string, bytes: number): Missing | null;
  /** Adds to the bytes of a holder; a negative number gives bytes back. */
  add(holder: string, bytes: number): void;
  /** Returns the bytes that all holders have. */
  held(): number;
}

function createByteShares(maxBytes: number, shareBytes: number): ByteShares {
  const byHolder = createTally();
  let held = 0;
  return {
    held: () => held,
    misses: (holder, bytes) => {
      if (byHolder.of(holder) + bytes > shareBytes) return 'share';
      return held + bytes > maxBytes ? 'all' : null;
    },
    add: (holder, bytes) => {
      held += bytes;
      byHolder.add(holder, bytes);
    },
  };
}
