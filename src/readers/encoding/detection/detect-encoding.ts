import { isUtf8 } from 'node:buffer';
import { isControl } from '../control-bytes.js';
import { decodeAs } from '../decode-as.js';
import { foreignText, textCost } from './text-cost.js';
import { addTo, at } from '../../../shared/at.js';

/** Most bytes that are looked at, and within how many they are looked for. */
const SAMPLE_BYTES = 6_144;
const SEARCHED_BYTES = 1_048_576;
/** The same piece again says less than it did at first. */
const MAX_REPETITIONS = 2;
/** Encodings that differ by less are equally likely. */
const CLOSE_BITS = 12;
/** The weight of a declaration, in bits. */
const DECLARED_BITS = 3;

export interface Detection {
  readonly encoding: string;
  /** An encoding that reads other text and is nearly as likely; absent where there is none. */
  readonly rival?: string | undefined;
}

/**
 * Guesses the encoding of bytes that are no UTF-8 by the text that they are in each encoding. The frequencies of pairs of
 * letters and of characters in the languages of an encoding make the probability of the text, and the most probable
 * encoding wins.
 */
export function detectEncoding(buffer: Buffer): Detection {
  const sample = foreignPieces(buffer);
  const ranked = rankAll(CANDIDATES, sample);
  const [best] = ranked;
  if (!best) return { encoding: 'windows-1252' };
  const rival = ranked.find(({ cost, text }) => cost < best.cost + CLOSE_BITS && text !== best.text);
  return { encoding: best.encoding, rival: rival?.encoding };
}

/** Tells whether bytes are likelier text in one encoding than in another one. */
export function isLikelier(buffer: Buffer, encoding: string, other: string): boolean {
  const [one, two] = [encoding, other].map((name) => CANDIDATES.find((each) => each.encoding === name));
  if (!one || !two) return false;
  const sample = foreignPieces(buffer);
  return rank(one, sample).cost - one.rarity - DECLARED_BITS < rank(two, sample).cost;
}

interface WideOptions {
  /** True if the bytes are wide in any case, and only their order is unknown. */
  readonly isCertain: boolean;
}

/** The best of the encodings of two bytes a letter; undefined where one of single bytes is likelier. */
function likeliestWide(buffer: Buffer, { isCertain }: WideOptions): string | undefined {
  const sample = buffer.subarray(0, SAMPLE_BYTES);
  const [best] = rankAll(WIDE_CANDIDATES, sample);
  if (!best || isCertain) return best?.encoding;
  const narrow = at(rankAll(CANDIDATES, foreignPieces(sample)), 0).cost;
  const controls = sample.reduce((sum, byte) => sum + (byte !== END_OF_FILE && isControl(byte) ? 1 : 0), 0);
  return narrow + controls * CONTROL_BITS > best.cost ? best.encoding : undefined;
}

/** The candidates that are nearly as likely as the best one, which comes first. */
function rankAll(candidates: readonly Candidate[], sample: Buffer): Ranked[] {
  const ranked: Ranked[] = [];
  let bound = Infinity;
  for (const candidate of candidates) {
    const found = rank(candidate, sample, bound);
    if (found.cost < bound) ranked.push(found);
    bound = Math.min(bound, found.cost + CLOSE_BITS);
  }
  return ranked.sort((a, b) => a.cost - b.cost);
}

interface Ranked {
  readonly encoding: string;
  readonly text: string;
  /** The improbability of the text, in bits; no less than the bound where it is above the bound. */
  readonly cost: number;
}

function rank({ encoding, languages, rarity }: Candidate, sample: Buffer, bound = Infinity): Ranked {
  const text = decodeAs(sample, encoding);
  return { encoding, text, cost: textCost(foreignText(text), languages, bound - rarity) + rarity };
}

/** The pieces between blanks, commas and the like that hold bytes above ASCII: no letter of several bytes goes across these. */
function foreignPieces(buffer: Buffer): Buffer {
  const pieces: Buffer[] = [];
  const repetitions = new Map<string, number>();
  let size = 0;
  const add = (piece: Buffer): void => {
    const key = piece.toString('latin1');
    if (addTo(repetitions, key) > MAX_REPETITIONS) return;
    pieces.push(piece, BLANK);
    size += piece.length;
  };
  let start = 0;
  let isForeign = false;
  const end = Math.min(buffer.length, SEARCHED_BYTES);
  for (let at = 0; at <= end && size < SAMPLE_BYTES; at += 1) {
    const byte = at === end ? 0 : buffer.readUInt8(at);
    if (byte > 0x7f) isForeign = true;
    if (byte > LAST_SEPARATOR && at - start < SAMPLE_BYTES) continue;
    if (isForeign) add(buffer.subarray(start, at));
    start = at;
    isForeign = false;
  }
  return Buffer.concat(pieces);
}

/** The sign that ends texts of DOS. */
const END_OF_FILE = 0x1a;
const CONTROL_BITS = 22;
const LAST_SEPARATOR = 0x2c;
const BLANK = Buffer.from(' ');

const WIDE_SAMPLE_BYTES = 65_536;
/** Short texts may have this many zeros by chance. */
const FEW_ZEROS = 2;

/**
 * Returns the encoding of bytes that are UTF-16 or UTF-32 without a byte order mark; undefined where nothing indicates
 * them. Their zeros (in East Asian text the zeros of blanks) are all at even or all at odd places. Without zeros, they have
 * control characters or are no UTF-8, and are made of letters of one script.
 */
export function wideEncoding(buffer: Buffer, declared: string | undefined): string | undefined {
  const head = withoutPadding(buffer.subarray(0, WIDE_SAMPLE_BYTES));
  const { even, odd, controls, lines } = countSigns(head);
  const zeros = even + odd;
  if (zeros > Math.max(FEW_ZEROS, head.length / 100) || zeros * 3 > head.length) {
    if (zeros > head.length * 0.6) return head[0] === 0 ? 'utf-32be' : 'utf-32le';
    return odd >= even ? 'utf-16le' : 'utf-16be';
  }
  if (buffer.length % 2 === 1 || buffer.length === 0) return undefined;
  if (lines > 0 && (even === 0 || odd === 0) && !hasStrayZeros(buffer, head))
    return odd > 0 ? 'utf-16le' : 'utf-16be';
  const hasControls = controls * 20 > head.length;
  const isDeclared = declared !== undefined && /^utf-(?:16|32)/.test(declared);
  if (!hasControls && isUtf8(buffer)) return undefined;
  return likeliestWide(head, { isCertain: hasControls || isDeclared });
}

/** Programs fill files with zeros. Those of the last character are too few to matter. */
function withoutPadding(head: Buffer): Buffer {
  let end = head.length;
  while (end > 0 && head[end - 1] === 0) end -= 1;
  return head.subarray(0, end);
}

function countSigns(head: Buffer): { even: number; odd: number; controls: number; lines: number } {
  const counts = { even: 0, odd: 0, controls: 0, lines: 0 };
  for (const [index, byte] of head.entries()) {
    if (byte === 0) {
      counts[index % 2 === 0 ? 'even' : 'odd'] += 1;
      if (isLineEnd(head[index % 2 === 0 ? index + 1 : index - 1])) counts.lines += 1;
    } else if (byte < 7) counts.controls += 1;
  }
  return counts;
}

/** Tells whether bytes are text but for zeros, of which programs leave one or two in their logs. */
const hasStrayZeros = (buffer: Buffer, head: Buffer): boolean =>
  isUtf8(buffer) && !head.some((byte) => byte !== 0 && isControl(byte));

/** A zero beside it within two bytes is its other half. */
const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;

/** An encoding that a file without a declaration may be in. */
interface Candidate {
  readonly encoding: string;
  /** The languages that were written in it. */
  readonly languages: readonly string[];
  /** The bits by which this encoding is rarer than the most frequent one. */
  readonly rarity: number;
}

const split = (names: string): readonly string[] => names.split(' ');

const WESTERN = split('en de fr es it pt nl sv da nb fi ca is');
const CENTRAL = split('pl cs hu sk sl sh ro de');
const CYRILLIC = split('ru uk bg sr mk');
const BALTIC = split('lt lv');
const ALL = [
  ...new Set([
    ...WESTERN,
    ...CENTRAL,
    ...CYRILLIC,
    ...BALTIC,
    ...split('tr vi el he ar fa th ja ko zh zh-Hant'),
  ]),
];

const CANDIDATES: readonly Candidate[] = [
  { encoding: 'windows-1252', languages: WESTERN, rarity: 0 },
  // It is one only where a few bytes of it are broken.
  { encoding: 'utf-8', languages: ALL, rarity: 0 },
  { encoding: 'windows-1251', languages: CYRILLIC, rarity: 3 },
  { encoding: 'gb18030', languages: ['zh', 'zh-Hant'], rarity: 3 },
  { encoding: 'shiftjis', languages: ['ja'], rarity: 3 },
  { encoding: 'windows-1250', languages: CENTRAL, rarity: 3 },
  { encoding: 'cp949', languages: ['ko'], rarity: 4 },
  { encoding: 'big5', languages: ['zh-Hant'], rarity: 4 },
  { encoding: 'euc-jp', languages: ['ja'], rarity: 4 },
  { encoding: 'windows-1253', languages: ['el'], rarity: 4 },
  { encoding: 'windows-1254', languages: ['tr'], rarity: 4 },
  { encoding: 'windows-1255', languages: ['he'], rarity: 4 },
  { encoding: 'windows-1256', languages: ['ar', 'fa'], rarity: 4 },
  { encoding: 'windows-874', languages: ['th'], rarity: 4 },
  { encoding: 'windows-1257', languages: BALTIC, rarity: 5 },
  { encoding: 'koi8-u', languages: ['ru', 'uk', 'bg'], rarity: 5 },
  { encoding: 'iso-8859-2', languages: CENTRAL, rarity: 5 },
  { encoding: 'iso-8859-7', languages: ['el'], rarity: 6 },
  { encoding: 'iso-8859-15', languages: WESTERN, rarity: 7 },
  { encoding: 'iso-8859-5', languages: CYRILLIC, rarity: 7 },
  { encoding: 'iso-8859-6', languages: ['ar'], rarity: 7 },
  { encoding: 'iso-8859-8', languages: ['he'], rarity: 7 },
  { encoding: 'windows-1258', languages: ['vi'], rarity: 7 },
  { encoding: 'cp850', languages: WESTERN, rarity: 8 },
  { encoding: 'cp852', languages: CENTRAL, rarity: 8 },
  { encoding: 'cp866', languages: CYRILLIC, rarity: 8 },
  { encoding: 'macintosh', languages: WESTERN, rarity: 9 },
  { encoding: 'macukraine', languages: CYRILLIC, rarity: 10 },
];

/** Encodings of two bytes a letter. */
const WIDE_CANDIDATES: readonly Candidate[] = split('utf-16le utf-16be').map((encoding) => ({
  encoding,
  languages: ALL,
  rarity: 5,
}));
