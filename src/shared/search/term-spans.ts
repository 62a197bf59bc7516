import { widthAt } from '../text/code-points.js';
import { placeNormalText } from '../text/analysis/normal-places.js';
import { hasTones } from '../text/analysis/normalize-text.js';
import { listTerms } from '../text/list-terms.js';
import type { TextSpan } from '../text/sentences.js';
import { nextSlice } from '../tools/time-slices.js';
import { compoundEnd, wordEnd, wordStart } from '../text/word-spans.js';
import {
  characterTerm,
  isUnspaced,
  markedTerm,
  pairTerm,
  splitCompound,
  splitWord,
  type Accents,
  type Terms,
} from '../text/words.js';

/** A part of a text that has terms, such as a word, a pair of characters, or words that are joined by signs. */
interface TermSpan extends TextSpan {
  readonly terms: readonly number[];
}

/** Parts that are looked at in one go, in less than a millisecond. */
const SPANS_AT_ONCE = 128;

/**
 * Returns the parts of a text that hold any of these terms, in their order and none of them overlapping, at most `max`.
 * Every term that the text has by itself (`listTerms`) is in one of the parts, so that these agree with its score.
 */
export async function findTerms(
  text: string,
  terms: ReadonlySet<number>,
  { max = Infinity }: { readonly max?: number } = {},
): Promise<TextSpan[]> {
  const normal = placeNormalText(text);
  const accents = accentsOf(normal.text);
  const found: TextSpan[] = [];
  const holds = createHolds();
  /** The last part that was widened. */
  let wide: TextSpan | null = null;
  let seen = 0;
  for (const span of termSpansOf(normal.text)) {
    seen += 1;
    if (seen % SPANS_AT_ONCE === 0) await nextSlice();
    const wanted = span.terms.filter((term) => terms.has(term));
    if (wanted.length === 0) continue;
    const place = normal.placeOf(span);
    if (wide && wide.start <= place.start && place.end <= wide.end) continue;
    const part = text.slice(place.start, place.end);
    const isWhole =
      accents === 'kept' || part === normal.text.slice(span.start, span.end) || holds(part, wanted);
    if (!isWhole) wide = untilBlanks(text, place);
    append(found, isWhole || !wide ? place : wide);
    // The last of them may still grow.
    if (found.length > max) return found.slice(0, max);
  }
  return found;
}

/** A name that is longer is cut: it is told with each of the results that are explained. */
const MAX_NAME = 64;
const cut = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1).toWellFormed()}…` : name;

/** Returns the shortest part of a text for each of its terms, the first one of several. */
export async function nameTerms(text: string): Promise<ReadonlyMap<number, string>> {
  const normal = placeNormalText(text);
  const names = new Map<number, string>();
  let seen = 0;
  for (const span of termSpansOf(normal.text)) {
    seen += 1;
    if (seen % SPANS_AT_ONCE === 0) await nextSlice();
    const { start, end } = normal.placeOf(span);
    // A part that was normalised as a whole may be the whole query.
    const name = end - start > MAX_NAME ? normal.text.slice(span.start, span.end) : text.slice(start, end);
    for (const term of span.terms) if (!names.has(term)) names.set(term, cut(name));
  }
  return names;
}

/** Adds a part, which begins at or after the beginning of the last one, or shortly before it. */
function append(found: TextSpan[], { start, end }: TextSpan): void {
  let joined = { start, end };
  for (let last = found.at(-1); last && last.end >= joined.start; last = found.at(-1)) {
    joined = { start: Math.min(last.start, joined.start), end: Math.max(last.end, joined.end) };
    found.pop();
  }
  found.push(joined);
}

/** Remembers the terms of the last part: hundreds of spans may have been made of one that is long. */
function createHolds(): (part: string, wanted: readonly number[]) => boolean {
  let [known, held]: [string, ReadonlySet<number>] = ['', new Set()];
  return (part, wanted) => {
    if (part !== known) [known, held] = [part, new Set(listTerms(part).terms)];
    return wanted.every((term) => held.has(term));
  };
}

/** A unit of a measure is written before its power: the term of both belongs to both. */
function untilBlanks(text: string, span: TextSpan): TextSpan {
  let { start, end } = span;
  while (start > 0 && !isBlank(text, start - 1)) start -= 1;
  while (end < text.length && !isBlank(text, end)) end += 1;
  return { start, end };
}

const isBlank = (text: string, at: number): boolean => /\s/u.test(text.charAt(at));

const accentsOf = (normal: string): Accents => (hasTones(normal) ? 'kept' : 'folded');

/** Yields the parts of a normal text that have terms, smaller ones before larger ones that hold them. */
function* termSpansOf(normal: string): Generator<TermSpan> {
  const accents = accentsOf(normal);
  let before = 0;
  for (let start = wordStart(normal, 0); start < normal.length;) {
    const end = wordEnd(normal, start);
    const last = compoundEnd(normal, start, end);
    if (last === end) yield* spansOfWord(normal, { start, end }, accents);
    else yield* spansOfCompound(normal, { start, end: last }, accents);
    const marked = markedTerm(normal, start, end);
    if (marked !== null) yield { start: markedStart(normal, { start, end, before }), end, terms: [marked] };
    before = start;
    start = wordStart(normal, last);
  }
}

const allOf = ({ named, joined, silent, stops, singles }: Terms): readonly number[] => [
  ...named,
  ...joined,
  ...silent,
  ...stops,
  ...singles,
];

function* spansOfWord(normal: string, { start, end }: TextSpan, accents: Accents): Generator<TermSpan> {
  const word = normal.slice(start, end);
  if (!isUnspaced(word)) {
    yield { start, end, terms: allOf(splitWord(word, accents)) };
    return;
  }
  // Each character by itself, each with the next one, and in between runs of other scripts.
  let run = start;
  let last = -1;
  for (let at = start; at < end;) {
    const next = at + widthAt(normal, at);
    const isApart = isUnspaced(normal.slice(at, next));
    if (isApart) {
      if (run < at) yield { start: run, end: at, terms: allOf(splitWord(normal.slice(run, at), accents)) };
      yield { start: at, end: next, terms: [characterTerm(normal, at, next)] };
      if (last >= 0) yield { start: last, end: next, terms: [pairTerm(normal, last, at, next)] };
      run = next;
    }
    last = isApart ? at : -1;
    at = next;
  }
  if (run < end) yield { start: run, end, terms: allOf(splitWord(normal.slice(run, end), accents)) };
}

/** The words that signs join, and the whole with the terms that none of them has. */
function* spansOfCompound(normal: string, { start, end }: TextSpan, accents: Accents): Generator<TermSpan> {
  const known = new Set<number>();
  for (let from = wordStart(normal, start); from < end;) {
    const to = Math.min(end, wordEnd(normal, from));
    for (const span of spansOfWord(normal, { start: from, end: to }, accents)) {
      for (const term of span.terms) known.add(term);
      yield span;
    }
    from = wordStart(normal, to);
  }
  const whole = allOf(splitCompound(normal.slice(start, end), accents));
  yield { start, end, terms: whole.filter((term) => !known.has(term)) };
}

/** Returns where a word begins together with the sign or the word before it that gives it a term of its own. */
function markedStart(normal: string, { start, end, before }: TextSpan & { readonly before: number }): number {
  const term = markedTerm(normal, start, end);
  const starts = [start, start - 1, start - 2, before].filter((from) => from >= 0);
  const isEnough = (from: number) => listTerms(normal.slice(from, end)).terms.some((each) => each === term);
  return starts.find(isEnough) ?? start;
}
