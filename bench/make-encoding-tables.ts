/**
 * Makes the tables by which undeclared encodings are told apart, from lists of words with their frequencies, one file
 * `<language>.tsv` each (`word`, a tab, its share of all words): `npx tsx bench/make-encoding-tables.ts <folder>`. The tables
 * that are there were made from the 40,000 most frequent words of each language in wordfreq 3.1.1 (Robyn Speer, CC BY-SA
 * 4.0), of Thai in PyThaiNLP 5.4 (Thai National Corpus); `zh-Hant` is `zh` in the traditional characters of OpenCC.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';

const [folder = ''] = process.argv.slice(2);
const OUTPUT = 'src/readers/encoding/detection/language-tables.ts';
const LATIN = 'ca cs da de en es fi fr hu is it lt lv nb nl pl pt ro sh sk sl sv tr vi'.split(' ');
const OTHERS: Readonly<Record<string, RegExp>> = {
  ar: /^[\u0621-\u064a\u067e\u0686\u0698\u06a9\u06af]+$/,
  bg: /^\p{Script=Cyrillic}+$/u,
  el: /^\p{Script=Greek}+$/u,
  fa: /^[\u0621-\u064a\u067e\u0686\u0698\u06a9\u06af]+$/,
  he: /^[\u05d0-\u05ea]+$/,
  mk: /^\p{Script=Cyrillic}+$/u,
  ru: /^\p{Script=Cyrillic}+$/u,
  sr: /^\p{Script=Cyrillic}+$/u,
  th: /^\p{Script=Thai}+$/u,
  uk: /^\p{Script=Cyrillic}+$/u,
};
const CHARACTERS: Readonly<Record<string, readonly [RegExp, number]>> = {
  ja: [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u, 1_800],
  ko: [/\p{Script=Hangul}/u, 1_200],
  zh: [/\p{Script=Han}/u, 2_200],
  'zh-Hant': [/\p{Script=Han}/u, 2_200],
};
/** Letters that are less frequent among all letters of a language are none of its own. */
const MIN_SHARE = 2e-5;
/** The part of the share of a letter's successors that is taken from the frequency of these alone. */
const SMOOTHING = 0.002;
const HIGHEST_DIGIT = 35;

type Words = readonly (readonly [word: string, share: number])[];

const readWords = (language: string): Words =>
  readFileSync(join(folder, `${language}.tsv`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [word = '', share = ''] = line.split('\t');
      return [word.normalize('NFC'), Number(share)] as const;
    });

/** The Cyrillic letters of Serbian in the order of its Latin ones. */
const CYRILLIC = 'абвгдђежзијклмнопрстћуфхцчш';
const SERBIAN: readonly (readonly [string, string])[] = [
  ...'lj љ,nj њ,dž џ'.split(',').map((pair) => [pair.slice(0, 2), pair.slice(3)] as const),
  ...Array.from('abvgdđežzijklmnoprstćufhcčš', (letter, index) => [letter, CYRILLIC.charAt(index)] as const),
];

/** The words of a language as its old encodings write them. */
function wordsOf(language: string): Words {
  if (language === 'sr')
    return readWords('sh').map(([word, share]) => [
      SERBIAN.reduce((text, [from, to]) => text.replaceAll(from, to), word),
      share,
    ]);
  const words = readWords(language);
  const spelled: Readonly<Record<string, (word: string) => string>> = {
    fa: (word) => word.replaceAll('ی', 'ي'),
    ro: (word) => word.replaceAll('ș', 'ş').replaceAll('ț', 'ţ'),
    // windows-1258 has letters with a circumflex, a breve or a horn, and tones as signs of their own.
    vi: (word) =>
      word
        .normalize('NFD')
        .replace(
          /([aeou])(\u0323?)([\u0302\u0306\u031b])/g,
          (_, base, dot, mark) => `${`${String(base)}${String(mark)}`.normalize('NFC')}${String(dot)}`,
        ),
  };
  const spell = spelled[language];
  return spell ? words.map(([word, share]) => [spell(word), share]) : words;
}

/** The pairs that each letter follows, as shares of all words. Place 0 is the place before and after a word. */
function countPairs(words: Words, places: ReadonlyMap<string, number>): Float64Array[] {
  const counts = Array.from({ length: places.size + 1 }, () => new Float64Array(places.size + 1));
  for (const [word, share] of words) {
    const path = [0, ...[...word].map((letter) => places.get(letter) ?? 0), 0];
    for (const [index, to] of path.slice(1).entries()) addTo(counts, path[index] ?? 0, to, share);
  }
  return counts;
}

function addTo(counts: readonly Float64Array[], from: number, to: number, share: number): void {
  const row = counts[from];
  if (row) row[to] = (row[to] ?? 0) + share;
}

/** Thai writes words without blanks between them: any may follow any other. */
function joinWords(counts: readonly Float64Array[]): void {
  const firsts = counts[0]?.slice() ?? new Float64Array();
  const total = firsts.reduce((sum, share) => sum + share, 0);
  for (const [from, row] of counts.entries()) {
    const last = row[0] ?? 0;
    if (from === 0) continue;
    for (const [to, first] of firsts.entries()) if (to > 0) addTo(counts, from, to, (last * first) / total);
    row[0] = last / 8;
  }
}

/** The costs of each letter after each other one in half bits, a digit of base 36 each. */
function digitsOf(counts: readonly Float64Array[]): string {
  const size = counts.length;
  const totals = counts.map((row) => row.reduce((sum, share) => sum + share, 0));
  const all = totals.reduce((sum, share) => sum + share, 0);
  const shareOf = (to: number): number => counts.reduce((sum, row) => sum + (row[to] ?? 0), 0) / all;
  const shares = Array.from({ length: size }, (_, to) => shareOf(to));
  return counts
    .flatMap((row, from) =>
      [...row].map((share, to) => {
        const total = totals[from] ?? 0;
        const smoothed = (share + SMOOTHING * total * (shares[to] ?? 0)) / (total * (1 + SMOOTHING));
        return Math.min(HIGHEST_DIGIT, Math.round(-2 * Math.log2(smoothed))).toString(36);
      }),
    )
    .join('');
}

function pairTable(language: string, pattern: RegExp): { letters: string; bits: string } {
  const words = wordsOf(language).filter(([word]) => pattern.test(word));
  const letters = frequent(words, /./u).filter(([, share]) => share > MIN_SHARE);
  const counts = countPairs(words, new Map(letters.map(([letter], index) => [letter, index + 1])));
  if (language === 'th') joinWords(counts);
  return { letters: letters.map(([letter]) => letter).join(''), bits: digitsOf(counts) };
}

/** The characters of words that match, the most frequent first, with their shares. */
function frequent(words: Words, pattern: RegExp): [string, number][] {
  const shares = new Map<string, number>();
  for (const [word, share] of words)
    for (const character of word)
      if (pattern.test(character)) shares.set(character, (shares.get(character) ?? 0) + share);
  const all = [...shares.values()].reduce((sum, share) => sum + share, 0);
  return [...shares]
    .map(([character, share]) => [character, share / all] as [string, number])
    .sort((a, b) => b[1] - a[1]);
}

/** The most frequent characters by their cost in bits: the first string costs nothing, the next one bit, and so on. */
function characterTable(language: string, pattern: RegExp, most: number): string[] {
  const levels: string[] = [];
  for (const [character, share] of frequent(readWords(language), pattern).slice(0, most)) {
    const bits = Math.round(-Math.log2(share));
    while (levels.length <= bits) levels.push('');
    levels[bits] = `${levels[bits] ?? ''}${character}`;
  }
  return levels;
}

const pairs: unknown = Object.fromEntries([
  ...LATIN.map((language) => [language, pairTable(language, /^[\p{Script=Latin}\u0300-\u0323]+$/u)]),
  ...Object.entries(OTHERS).map(([language, pattern]) => [language, pairTable(language, pattern)]),
]);
const characters: unknown = Object.fromEntries(
  Object.entries(CHARACTERS).map(([language, [pattern, most]]) => [
    language,
    characterTable(language, pattern, most),
  ]),
);
const text = `// Made by bench/make-encoding-tables.ts, which names the sources.

/**
 * For each language its letters, and the costs of each after each other one in half bits: a digit of base 36 each, row by
 * row. The first row and column are the beginning and the end of words.
 */
export const LETTER_PAIRS: Readonly<Record<string, { readonly letters: string; readonly bits: string }>> = ${JSON.stringify(pairs)};

/**
 * Characters of languages that have thousands: a character of the first string costs no bits, one of the next string one
 * bit, and so on.
 */
export const FREQUENT_CHARACTERS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(characters)};
`;
writeFileSync(OUTPUT, await format(text, { parser: 'typescript', printWidth: 110, singleQuote: true }));
