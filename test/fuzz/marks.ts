import type { Random } from '../support/fuzz/random.js';
import type { MarkKind, Run } from './sample.js';

const SYLLABLES = ['ba', 'ro', 'mi', 'ke', 'lu', 'za', 'ni', 'fo', 'tar', 'vel', 'sum', 'pol'] as const;
const RAISED_DIGITS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const LOWERED_DIGITS = '₀₁₂₃₄₅₆₇₈₉';

const pick = <T>(random: Random, list: readonly [T, ...T[]]): T => list[random(list.length)] ?? list[0];

/** A word of no language, so that it is found in no other place. */
export function madeUpWord(random: Random): string {
  return Array.from({ length: 3 + random(2) }, () => pick(random, SYLLABLES)).join('');
}

const text = (value: string): Run => ({ text: value });
const raised = (value: string): Run => ({ text: value, shift: 'raised' });
const lowered = (value: string): Run => ({ text: value, shift: 'lowered' });
const inDigits = (digits: string, signs: string): string =>
  [...digits].map((digit) => signs.charAt(Number(digit))).join('');

interface Signs {
  readonly runs: readonly Run[];
  readonly written: string;
}

type Maker = (random: Random, word: string) => Signs;

/** The first run of a mark says what is written of all of them. */
function asMark(kind: MarkKind, { runs, written }: Signs): readonly Run[] {
  const [first = text(''), ...others] = runs;
  return [{ ...first, written, begins: kind }, ...others.map((run) => ({ ...run, written: '' }))];
}

/** Each states by itself what is written: signs of Unicode, `^` and `_` elsewhere, and nothing where none is needed. */
const SHIFTED: readonly [Maker, ...Maker[]] = [
  (random) => {
    const power = String(2 + random(97));
    return { runs: [text('10'), raised(power)], written: `10${inDigits(power, RAISED_DIGITS)}` };
  },
  (random, word) => {
    const note = String(1 + random(120));
    return { runs: [text(word), raised(note)], written: word + inDigits(note, RAISED_DIGITS) };
  },
  (_, word) => ({ runs: [text(`${word} m`), raised('2')], written: `${word} m²` }),
  (_, word) => ({ runs: [text(`${word}10`), raised('−3')], written: `${word}10⁻³` }),
  (random, word) => {
    const count = String(2 + random(20));
    return {
      runs: [text(`${word}H`), lowered(count), text('O')],
      written: `${word}H${inDigits(count, LOWERED_DIGITS)}O`,
    };
  },
  (_, word) => ({
    runs: [text(`${word}SO`), lowered('4'), raised('2−')],
    written: `${word}SO₄²⁻`,
  }),
  (random, word) => {
    const mass = String(10 + random(200));
    return { runs: [raised(mass), text(`C${word}`)], written: `${inDigits(mass, RAISED_DIGITS)}C${word}` };
  },
  (_, word) => ({ runs: [text(word), raised('n')], written: `${word}^n` }),
  (_, word) => ({ runs: [text(word), raised('a+b')], written: `${word}^(a+b)` }),
  (_, word) => ({ runs: [text(word), lowered('i')], written: `${word}_i` }),
  (_, word) => ({ runs: [text(word), lowered('n+1')], written: `${word}_(n+1)` }),
  (_, word) => ({ runs: [text(word), lowered('max'), text('/2')], written: `${word}_max/2` }),
  (random) => {
    const tens = String(20 + 10 * random(7) + 4 + random(6));
    return { runs: [text(tens), raised('th')], written: `${tens}th` };
  },
  (_, word) => ({ runs: [text(word), raised('*')], written: `${word}*` }),
  (_, word) => ({ runs: [text(word), raised('[2]')], written: `${word}[2]` }),
  (_, word) => ({ runs: [text(word), raised('®')], written: `${word}®` }),
  (_, word) => ({ runs: [text(word), raised('1,2')], written: `${word}¹,²` }),
  (_, word) => ({ runs: [text(word), raised('3'), text('.')], written: `${word}³.` }),
];

/** Raised signs of Unicode's own, which every format has. */
const REAL_SIGNS: readonly [Maker, ...Maker[]] = [
  (random, word) => {
    const power = inDigits(String(1 + random(99)), RAISED_DIGITS);
    return { runs: [text(word + power)], written: word + power };
  },
  (_, word) => ({ runs: [text(`${word}H₂O`)], written: `${word}H₂O` }),
  (_, word) => ({ runs: [text(`${word}½`)], written: `${word}½` }),
];

/** Codes of the fonts' own tables beside the signs that people see. */
const SIGNS: readonly [Sign, ...Sign[]] = [
  ['Symbol', 0x61, 'α'],
  ['Symbol', 0x62, 'β'],
  ['Symbol', 0x6d, 'μ'],
  ['Symbol', 0x70, 'π'],
  ['Symbol', 0x57, 'Ω'],
  ['Symbol', 0x44, 'Δ'],
  ['Symbol', 0xb1, '±'],
  ['Symbol', 0xa3, '≤'],
  ['Symbol', 0xb3, '≥'],
  ['Symbol', 0xb9, '≠'],
  ['Symbol', 0xb4, '×'],
  ['Symbol', 0xae, '→'],
  ['Symbol', 0xa5, '∞'],
  ['Wingdings', 0xfe, '☑'],
  ['Wingdings', 0xfd, '☒'],
  ['Wingdings', 0xa8, '☐'],
  ['Wingdings', 0xfc, '✓'],
  ['Wingdings', 0xfb, '✗'],
  ['Wingdings', 0xe0, '→'],
  ['Wingdings', 0x4a, '☺'],
  ['Wingdings', 0xab, '★'],
  ['Wingdings', 0x36, '⌛'],
  ['Wingdings 2', 0x50, '✓'],
  ['Wingdings 2', 0x52, '☑'],
];
type Sign = readonly [font: string, code: number, sign: string];

/** Within a word, where they are not seen and must not divide it. */
const UNSEEN = ['\u00ad', '\u200b', '\u2060', '\ufeff', '\u200e', '\u200d', '\u200c'] as const;

/** Seen as one sign only while the characters between stay where they are. */
const JOINED = ['👩‍🚀', '❤️', '🏳️‍🌈', 'می‌خواهم', 'क्‍ष', '🇺🇦', '𠮷野', 'e\u0301', '葛\u{e0100}'] as const;

export function shiftedMark(random: Random): readonly Run[] {
  return asMark('raised', pick(random, SHIFTED)(random, madeUpWord(random)));
}

export function realSignMark(random: Random): readonly Run[] {
  return asMark('raised', pick(random, REAL_SIGNS)(random, madeUpWord(random)));
}

/** @param fonts those that the writer of a format can use */
export function symbolMark(random: Random, fonts: readonly string[]): readonly Run[] {
  const known = SIGNS.filter(([font]) => fonts.includes(font));
  const [font, code, sign] = known[random(known.length)] ?? SIGNS[0];
  const word = madeUpWord(random);
  const runs = [{ text: String.fromCharCode(code), font }, text(` ${word}`)];
  return asMark('symbol', { runs, written: `${sign} ${word}` });
}

export function invisibleMark(random: Random, { joins = true } = {}): readonly Run[] {
  if (joins && random(3) === 0) {
    const word = madeUpWord(random) + pick(random, JOINED);
    return asMark('invisible', { runs: [text(word)], written: word });
  }
  const [start, end] = [madeUpWord(random), madeUpWord(random)];
  return asMark('invisible', { runs: [text(start + pick(random, UNSEEN) + end)], written: start + end });
}
