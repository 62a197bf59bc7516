import { FREQUENT_CHARACTERS } from './frequent-characters.js';
import { LETTER_PAIRS } from './letter-pairs.js';
import { isOfScript, scriptOf, type Script } from './scripts.js';

/** A letter of the right script that the language does not have, and one of another script. */
const FOREIGN_LETTER_BITS = 14;
const FOREIGN_SCRIPT_BITS = 22;
/** A character of the right script that is too rare for the tables. */
const RARE_CHARACTER_BITS = 18;
/** A small letter before a capital one. */
const MIXED_CASE_BITS = 8;

/** Half-width kana, which old programs of banks and shops write, are as frequent among themselves as full ones, but rarer. */
const HALF_WIDTH_BITS = 2;
const SOUND_MARKS = 'ﾞﾟ';
const SOUND_MARK_BITS = 4;

/** Tells how unlikely a word is in a language, in bits: the logarithm of one over its probability. */
export type WordCost = (word: string) => number;

const loaded = new Map<string, WordCost>();

/** The model of a language, which is made on first use. */
export function wordCostOf(language: string): WordCost {
  const known = loaded.get(language);
  if (known) return known;
  const cost = LETTER_PAIRS[language] ? pairCost(language) : characterCost(language);
  loaded.set(language, cost);
  return cost;
}

function pairCost(language: string): WordCost {
  const { letters = '', bits = '' } = LETTER_PAIRS[language] ?? {};
  const places = new Map([...letters].map((letter, index) => [letter, index + 1]));
  const size = places.size + 1;
  const costs = Float32Array.from(bits, (digit) => parseInt(digit, 36) / 2);
  const script = scriptOf(letters.codePointAt(0) ?? 0);
  return (word) => {
    let sum = 0;
    let previous = 0;
    let wasSmall = false;
    for (const character of word) {
      const small = [...character.toLowerCase()][0] ?? character;
      if (small !== character && wasSmall) sum += MIXED_CASE_BITS;
      wasSmall = small === character && character.toUpperCase() !== character;
      const place = places.get(small);
      if (place === undefined) sum += foreignBits(small, script);
      else sum += costs[previous * size + place] ?? 0;
      previous = place ?? 0;
    }
    return sum + (costs[previous * size] ?? 0);
  };
}

const foreignBits = (letter: string, script: Script): number =>
  isOfScript(letter.codePointAt(0) ?? 0, script) ? FOREIGN_LETTER_BITS : FOREIGN_SCRIPT_BITS;

function characterCost(language: string): WordCost {
  const costs = new Map<string, number>();
  for (const [bits, characters] of (FREQUENT_CHARACTERS[language] ?? []).entries())
    for (const character of characters) costs.set(character, bits);
  if (language === 'ja') addHalfWidth(costs);
  return (word) => {
    let sum = 0;
    for (const character of word)
      sum +=
        costs.get(character) ??
        (isOfScript(character.codePointAt(0) ?? 0, 'east-asian') ? RARE_CHARACTER_BITS : FOREIGN_SCRIPT_BITS);
    return sum;
  };
}

function addHalfWidth(costs: Map<string, number>): void {
  for (let code = 0xff66; code <= 0xff9f; code += 1) {
    const half = String.fromCodePoint(code);
    const full = costs.get(half.normalize('NFKC'));
    if (full !== undefined) costs.set(half, full + HALF_WIDTH_BITS);
  }
  for (const mark of SOUND_MARKS) costs.set(mark, SOUND_MARK_BITS);
}
