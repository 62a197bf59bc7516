import type { TextSpan } from '../sentences.js';
import { REPLACEMENTS, type See } from './normalize-text.js';

/** A text as `normalizeText` makes it, which knows the place in the written text of each of its units. */
interface PlacedText {
  readonly text: string;
  /** Returns the written characters that a part of the normal text was made of. */
  readonly placeOf: (span: TextSpan) => TextSpan;
}

const ASCII = /^[\0-\x7f]*$/u;
/** A character with all that NFKC may join to it: marks, the vowels and ends of Hangul, the voice marks of narrow kana. */
const CLUSTERS = /[\s\S][\p{M}\u1160-\u11ff\uff9e\uff9f]*/gu;
const byClusters = (text: string, see: See): string =>
  text.replace(CLUSTERS, (found, at: number) => see(found, at, found.normalize('NFKC')));

/**
 * Normalises a text like `normalizeText`, step by step and piece by piece, which takes longer. No step looks across white
 * space of ASCII.
 */
export function placeNormalText(text: string): PlacedText {
  if (ASCII.test(text)) return { text, placeOf: (span) => span };
  const pieces: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  for (let from = 0; from < text.length;) {
    const first = plainEnd(text, from);
    for (let at = from; at < first; at += 1) {
      starts.push(at);
      ends.push(at + 1);
    }
    const to = pieceEnd(text, first);
    const units = normalUnits(text.slice(first, to));
    pieces.push(text.slice(from, first), units.text);
    for (const start of units.starts) starts.push(first + start);
    for (const end of units.ends) ends.push(first + end);
    from = to;
  }
  return {
    text: pieces.join(''),
    placeOf: ({ start, end }) => ({ start: starts[start] ?? text.length, end: ends[end - 1] ?? 0 }),
  };
}

const LAST_BLANK = 0x20;
const LAST_OF_ASCII = 0x7f;
const isBlank = (unit: number): boolean => unit <= LAST_BLANK;

/** Returns the end of what stays as it is: the last white space before the next character that is not of ASCII. */
function plainEnd(text: string, start: number): number {
  let end = start;
  for (let at = start; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > LAST_OF_ASCII) return end;
    if (isBlank(unit)) end = at + 1;
  }
  return text.length;
}

/** Returns the end of the piece that begins here: the next white space. */
function pieceEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isBlank(text.charCodeAt(end))) end += 1;
  return end;
}

function normalUnits(piece: string): Units {
  let units = unitsOf(piece);
  for (const step of REPLACEMENTS.before) units = replaced(units, step);
  units = composed(units);
  for (const step of REPLACEMENTS.after) units = replaced(units, step);
  return units;
}

/** A text with the bounds, in the written text, of the characters that each unit was made of. */
interface Units {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const unitsOf = (text: string): Units => ({
  text,
  starts: Array.from({ length: text.length }, (_, i) => i),
  ends: Array.from({ length: text.length }, (_, i) => i + 1),
});

/** Joins and takes apart characters. Where that concerns more than a cluster, the whole text counts as one. */
function composed(units: Units): Units {
  const whole = units.text.normalize('NFKC');
  if (whole === units.text) return units;
  const made = replaced(units, byClusters);
  return made.text === whole ? made : replaced(units, (text, see) => see(text, 0, whole));
}

function replaced(units: Units, replace: (text: string, see: See) => string): Units {
  let last = 0;
  const starts: number[] = [];
  const ends: number[] = [];
  const keep = (to: number) => {
    for (; last < to; last += 1) {
      starts.push(units.starts[last]);
      ends.push(units.ends[last]);
    }
  };
  const text = replace(units.text, (found, at, written) => {
    if (written === found) return written;
    keep(at);
    last = at + found.length;
    const [start, end] = [units.starts[at], units.ends[last - 1]];
    while (starts.length < ends.length + written.length) starts.push(start);
    while (ends.length < starts.length) ends.push(end);
    return written;
  });
  keep(units.text.length);
  return { text, starts, ends };
}
