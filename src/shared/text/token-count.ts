import { get_encoding, type Tiktoken } from 'tiktoken';
import { MAX_PIECE_LENGTH, pieceEnd } from './pre-tokenizer.js';

/** Counts of pieces up to this length, in UTF-16 units, are remembered. */
const MAX_WORD_LENGTH = 32;
/** The first code unit of scripts without spaces. Their clauses hardly repeat, and are as fast encoded together. */
const FIRST_WIDE = 0x2e80;
const REMEMBERED_PIECES = 65_536;
/** A call into WASM costs as much as encoding this many known pieces between two unknown ones. */
const MAX_GAP_LENGTH = 3;
const PIECES_AT_ONCE = 256;

const remembered = new Map<string, number>();
const tokenBytes = new Uint8Array(100_512);
let encoder: Tiktoken | undefined;

/**
 * Consecutive pieces of a text. Piece `i` reaches from `ends[i - 1]` (or the
 * start) to `ends[i]` and has `counts[i]` tokens.
 */
export interface CountedPieces {
  readonly ends: readonly number[];
  readonly counts: readonly number[];
}

/**
 * Counts the tokens of `text` in cl100k_base. A run of over 128 characters without a border
 * is counted in parts, each of which may be off by one.
 */
export function countTokens(text: string): number {
  let total = 0;
  for (let position = 0; position < text.length;) {
    const { ends, counts } = countPieces(text, position, PIECES_AT_ONCE);
    for (const count of counts) total += count;
    position = ends.at(-1) ?? text.length;
  }
  return total;
}

/**
 * Counts the next pieces of `text` from `start` on (a border of pieces), at most `limit` of them. Their counts add up
 * to the text's. Each distinct piece is encoded once, which is several times as fast as encoding the whole text.
 */
export function countPieces(text: string, start: number, limit: number): CountedPieces {
  const ends: number[] = [];
  const counts: number[] = [];
  let unknownFrom = -1;
  let unknownTo = -1;
  const settle = (): void => {
    if (unknownFrom >= 0) encodeSpan(text, { start, ends, counts, from: unknownFrom, to: unknownTo });
    unknownFrom = -1;
  };
  for (let position = start; position < text.length && ends.length < limit;) {
    const end = pieceEnd(text, position);
    const known = mayComeAgain(text, position, end) ? remembered.get(text.slice(position, end)) : undefined;
    const index = ends.push(end) - 1;
    counts.push(known ?? 0);
    // A part of a longer run is encoded alone, since with its neighbours it would be one run again.
    const isPart = mayBePart(position, end);
    if (isPart || index - unknownTo > MAX_GAP_LENGTH) settle();
    if (known === undefined) {
      if (unknownFrom < 0) unknownFrom = index;
      unknownTo = index;
      if (isPart) settle();
    }
    position = end;
  }
  settle();
  return { ends, counts };
}

interface Span {
  readonly start: number;
  readonly ends: readonly number[];
  readonly counts: number[];
  readonly from: number;
  readonly to: number;
}

/** Encodes pieces `from` to `to` in one call, and assigns the tokens to the pieces by their bytes. */
function encodeSpan(text: string, { start, ends, counts, from, to }: Span): void {
  const spanStart = from === 0 ? start : (ends[from - 1] ?? start);
  const tokens = encode(text.slice(spanStart, ends[to]));
  let position = spanStart;
  let token = 0;
  for (let index = from; index <= to; index += 1) {
    const end = ends[index] ?? position;
    const first = token;
    if (index === to) token = tokens.length;
    else
      for (let bytes = utf8Length(text, position, end); bytes > 0; token += 1)
        bytes -= bytesOf(tokens[token] ?? 0);
    counts[index] = token - first;
    if (mayComeAgain(text, position, end)) remember(text.slice(position, end), token - first);
    position = end;
  }
}

/** Counts tokens with tiktoken itself: exact for runs of any length, in time that is quadratic in the longest run. */
export function countTokensExactly(text: string): number {
  return encode(text).length;
}

function encode(text: string): Uint32Array {
  encoder ??= get_encoding('cl100k_base');
  return encoder.encode(text, [], []);
}

function bytesOf(token: number): number {
  const known = tokenBytes[token];
  if (known !== undefined && known > 0) return known;
  encoder ??= get_encoding('cl100k_base');
  const bytes = Math.max(1, encoder.decode_single_token_bytes(token).length);
  tokenBytes[token] = bytes;
  return bytes;
}

function remember(piece: string, count: number): void {
  if (remembered.size >= REMEMBERED_PIECES) remembered.clear();
  // A copy is remembered, since V8 keeps a document alive through slices of 13 characters or more.
  remembered.set(piece.length < 13 ? piece : ` ${piece}`.slice(1), count);
}

/** Whether a piece may occur again. Words do, and so do the parts of a line of dashes or of one letter. */
function mayComeAgain(text: string, start: number, end: number): boolean {
  const length = end - start;
  if (length === 1 || mayBePart(start, end)) return true;
  return length <= MAX_WORD_LENGTH && text.charCodeAt(end - 1) < FIRST_WIDE;
}

/** Whether the piece may have been cut from a longer run. Runs are cut close to the longest piece, not always exactly there. */
export function mayBePart(start: number, end: number): boolean {
  return end - start > MAX_PIECE_LENGTH / 2;
}

/** The bytes of a part of `text` in UTF-8. A lone surrogate is encoded as U+FFFD. */
function utf8Length(text: string, start: number, end: number): number {
  let bytes = 0;
  for (let position = start; position < end; position += 1) {
    const unit = text.charCodeAt(position);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else bytes += 3;
    // A pair takes four bytes, which is two less than two lone halves.
    const isHigh = unit >= 0xd800 && unit < 0xdc00 && position + 1 < end;
    if (isHigh && (text.charCodeAt(position + 1) & 0xfc00) === 0xdc00) bytes -= 2;
  }
  return bytes;
}
