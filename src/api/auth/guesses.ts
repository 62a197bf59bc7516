import { TooManyError } from '../../shared/errors.js';
import { keys } from '../../shared/redis/keys.js';
import type { Windows } from './windows.js';

/** What can be tried. Each has a limit of its own: who tries passwords locks nobody out who shows a token. */
export type SecretKind = 'password' | 'scrape-token' | 'signed-token';

export interface Guess {
  readonly kind: SecretKind;
  /** Who tries, as `clientAddressOf` tells it. */
  readonly address: string;
}

/** Limits how often secrets can be tried, by address and in all, over all API processes. Without Redis nobody passes. */
export interface Guesses {
  /**
   * Whether a password that people chose is right; asked for only while the address may try.
   * @throws TooManyError
   */
  check(guess: Guess, isRight: () => boolean): Promise<boolean>;
  /**
   * Counts a signed token that was wrong. A right one need not be counted, since nobody finds a signature by trying: it
   * passes whoever else tries.
   * @throws TooManyError
   */
  countWrong(guess: Guess): Promise<void>;
}

export const GUESSES_BY_ADDRESS = 10;
export const GUESSES_IN_ALL = 100;
const MAX_PROVEN = 1_000;

export function createGuesses(windows: Windows): Guesses {
  /** Addresses that showed the right one here: they need no guess, also while others use up all, or Redis is away. */
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
      // A wrong one ends the trust: between two right ones of an address there is one free guess at most.
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
  if (proven.size > MAX_PROVEN) proven.delete(proven.values().next().value ?? '');
  return true;
}

/** The address comes first: one that is refused uses up nothing of what is left for others. */
const windowsOf = ({ kind, address }: Guess) => [
  { key: keys.guesses(kind, address), most: GUESSES_BY_ADDRESS },
  { key: keys.guesses(kind, 'all'), most: GUESSES_IN_ALL },
];
