const DIGITS = Array.from('-0123456789abcdef');
const LENGTH = 12;

/**
 * Makes a number of an id that orders ids as strings are ordered, or leaves them equal. It reads the first characters of a
 * UUID as digits of base 17, which a double holds exactly. From the first character on that is no such digit, all digits
 * are the lowest or the highest.
 */
export function tieKey(id: string): number {
  let key = 0;
  let rest = 0;
  let isPrefix = true;
  for (let i = 0; i < LENGTH; i += 1) {
    if (isPrefix) {
      const character = id[i] ?? '';
      const digit = character === '' ? -1 : DIGITS.indexOf(character);
      if (digit >= 0) {
        key = key * DIGITS.length + digit;
        continue;
      }
      isPrefix = false;
      const below = DIGITS.filter((each) => each < character).length;
      rest = below === 0 ? 0 : DIGITS.length - 1;
      key = key * DIGITS.length + Math.max(below - 1, 0);
      continue;
    }
    key = key * DIGITS.length + rest;
  }
  return key;
}
