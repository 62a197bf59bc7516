import { TooManyError } from '../../shared/errors.js';
import { keys } from '../../shared/redis/keys.js';
import { dropOldest } from '../../shared/tools/drop-oldest.js';
import type { Windows } from './rate-limit.js';

/** The kinds of secrets that can be guessed. Each has its own limit: guessing passwords must not lock out token holders. */
export type SecretKind = 'password' | 'scrape-token' | 'signed-token';

export interface Guess {
  readonly kind: SecretKind;
  /** The address that the guess comes from, as `clientAddressOf` returns it. */
  readonly address: string;
}

/** Limits attempts at secrets, by address and in all, across all API processes. Without Redis every attempt is refused. */
export interface Guesses {
  /**
   * Tells whether a password that people chose is right. `isRight` is called only while the address may make attempts.
   * @throws TooManyError
   */
  check(guess: Guess, isRight: () => boolean): Promise<boolean>;
  /**
   * Counts a signed token that was wrong. A valid one is not counted, because nobody finds a signature by guessing; so
   * others' attempts never lock out its holder.
   * @throws TooManyError
   */
  countWrong(guess: Guess): Promise<void>;
}

export const GUESSES_BY_ADDRESS = 10;
export const GUESSES_IN_ALL = 100;
const MAX_PROVEN = 1_000;

export function createGuessLimit(windows: Windows): Guesses {
  /**
   * Addresses that have shown the right password to this process. Their attempts are not counted, so that they pass even
   * while others have used up the limit, or while Redis is away.
   */
  const proven = new Set<string>();
  const take = async (guess: Guess) => {
    const counted = windowsOf(guess);
    const left = await windows.take(counted);
    if (left === 0) return counted;
    throw new TooManyError('Too many attempts', { retryAfterSeconds: left / 1_000 });
  };
  return {
    check: async (guess, isRight) => {
      const who = `${guess.kind} ${guess.address}`;
      // A wrong password ends the trust, so that an address has at most one free attempt between two right ones.
      if (proven.delete(who) && isRight()) return remember(proven, who);
      const counted = await take(guess);
      if (!isRight()) return false;
      await windows.giveBack(counted);
      return remember(proven, who);
    },
    countWrong: async (guess) => {
      await take(guess);
    },
  };
}

function remember(proven: Set<string>, who: string): true {
  proven.add(who);
  dropOldest(proven, MAX_PROVEN);
  return true;
}

/** The address comes first, so that an address that is refused does not use up the limit for all. */
const windowsOf = ({ kind, address }: Guess) => [
  { key: keys.guesses(kind, address), max: GUESSES_BY_ADDRESS },
  { key: keys.guesses(kind, 'all'), max: GUESSES_IN_ALL },
];
