import type { Random } from '../chaos/random.js';

export const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

interface Words {
  readonly count: number;
  /** Characters of each. */
  readonly length: number;
  readonly letters?: string;
}

/** Words of any letters with blanks between: a text of short ones takes more memory than any other. */
export function randomWords(random: Random, { count, length, letters = LETTERS }: Words): string {
  const choices = [...letters];
  const word = () => Array.from({ length }, () => random.pickAny(choices)).join('');
  return Array.from({ length: count }, word).join(' ');
}
