import fc from 'fast-check';

const [FIRST_SURROGATE, SURROGATES, CODE_POINTS] = [0xd800, 0x800, 0x110000];

/**
 * Any character of Unicode, for `unit` of a string. fast-check's own `binary` is the same, but lists all 1.1 million of them
 * in every test file, which takes a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(CODE_POINTS - SURROGATES - 1).map(
  (number) => String.fromCodePoint(number < FIRST_SURROGATE ? number : number + SURROGATES),
  (character) => {
    if (typeof character !== 'string' || [...character].length !== 1) throw new Error('not a character');
    const codePoint = character.codePointAt(0) ?? 0;
    if (codePoint < FIRST_SURROGATE) return codePoint;
    if (codePoint < FIRST_SURROGATE + SURROGATES) throw new Error('half a character');
    return codePoint - SURROGATES;
  },
);
