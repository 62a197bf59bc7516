import { TryLaterError } from '../../../shared/errors.js';

/** What one request holds of the budget. */
export interface BodyClaim {
  /** Holds so many bytes in all from now on. @throws TryLaterError when they do not fit */
  grow(bytes: number): void;
  /** Holds no more than so many bytes from now on. */
  shrink(bytes: number): void;
  /** On every way out; more than once is the same. */
  release(): void;
}

/**
 * Bytes of request bodies that this process holds at once, until what they say is stored. Claims grow with what has
 * arrived, not with what was announced, and nobody waits for room: so nothing can lock, and announcing costs nothing.
 */
export interface BodyBudget {
  claim(holder: string): BodyClaim;
  /** Bytes that are held now. */
  heldBytes(): number;
}

/** Claims grow by this, so that each byte of a slow sender is not an account entry. */
const STEP_BYTES = 16 * 1024;
const RETRY_SECONDS = 2;

export interface BodyBudgetOptions {
  readonly maxBytes: number;
  /** What one caller, or all strangers together, may hold: one who sends slowly must not keep out all others. */
  readonly shareBytes: number;
}

export function createBodyBudget({ maxBytes, shareBytes }: BodyBudgetOptions): BodyBudget {
  const byHolder = new Map<string, number>();
  let held = 0;
  const add = (holder: string, bytes: number) => {
    const own = (byHolder.get(holder) ?? 0) + bytes;
    if (bytes > 0 && (own > shareBytes || held + bytes > maxBytes)) throw full();
    held += bytes;
    if (own > 0) byHolder.set(holder, own);
    else byHolder.delete(holder);
  };
  return {
    heldBytes: () => held,
    claim: (holder) => {
      let claimed = 0;
      const set = (bytes: number) => {
        add(holder, bytes - claimed);
        claimed = bytes;
      };
      return {
        grow: (bytes) => {
          const wanted = Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
          if (wanted > claimed) set(wanted);
        },
        shrink: (bytes) => {
          if (bytes < claimed) set(bytes);
        },
        release: () => {
          set(0);
        },
      };
    },
  };
}

const full = () => new TryLaterError('Too many large requests at once', { retryAfterSeconds: RETRY_SECONDS });
