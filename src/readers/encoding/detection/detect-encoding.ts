import { isControl } from '../control-bytes.js';
import { decodeAs } from '../decode-as.js';
import { CANDIDATES, WIDE_CANDIDATES, type Candidate } from './candidates.js';
import { foreignText, textCost } from './text-cost.js';

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
export function likeliestWide(buffer: Buffer, { isCertain }: WideOptions): string | undefined {
  const sample = buffer.subarray(0, SAMPLE_BYTES);
  const [best] = rankAll(WIDE_CANDIDATES, sample);
  if (!best || isCertain) return best?.encoding;
  const narrow = rankAll(CANDIDATES, foreignPieces(sample))[0]?.cost ?? 0;
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
    const times = (repetitions.get(key) ?? 0) + 1;
    repetitions.set(key, times);
    if (times > MAX_REPETITIONS) return;
    pieces.push(piece, BLANK);
    size += piece.length;
  };
  let start = 0;
  let isForeign = false;
  const end = Math.min(buffer.length, SEARCHED_BYTES);
  for (let at = 0; at <= end && size < SAMPLE_BYTES; at += 1) {
    const byte = at === end ? 0 : (buffer[at] ?? 0);
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
