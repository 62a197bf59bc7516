/** A text without blanks, and where its letters stand in it. */
export interface Letters {
  readonly compact: string;
  readonly letters: readonly { readonly letter: string; readonly index: number }[];
}

/** This many characters before and behind tell which of several places in a text is meant. */
const CONTEXT = 8;
/** The distance of a place from its expected one, by its share of the line, whose letters differ in width. */
const FARTHEST = { letters: 3, share: 0.1 };

export function lettersIn(text: string): Letters {
  const letters = [...text.matchAll(/\S/g)].map(({ 0: letter, index }) => ({ letter, index }));
  return { compact: bare(letters.map(({ letter }) => letter).join('')), letters };
}

/** The two readers do not always give the same dash. */
export const bare = (text: string): string => text.replace(/\s+/g, '').replace(/[\u2010-\u2015\u2212]/g, '-');

/** Tells whether a place among the letters of a line is too far from where it is expected. */
export const isFar = (off: number, { compact }: Letters): boolean =>
  off > FARTHEST.letters + FARTHEST.share * compact.length;

/** Returns the number of letters that two texts have in common at their ends. */
export function commonEnd(one: string, other: string): number {
  let count = 0;
  while (count < CONTEXT && count < other.length && one.at(-1 - count) === other.at(-1 - count)) count += 1;
  return count;
}

/** Returns the number of letters that two texts have in common at their beginnings. */
export function commonStart(one: string, other: string): number {
  let count = 0;
  while (count < CONTEXT && count < other.length && one[count] === other[count]) count += 1;
  return count;
}
