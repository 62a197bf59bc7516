import type { TermList, TermCounts } from '../../index/index.js';
import {
  splitCompound,
  markedTerm,
  isUnspaced,
  MAX_WORD_LENGTH,
  splitWord,
  type Accents,
  type Terms,
} from './words.js';
import { hasTones, normalizeText } from './analysis/normalize-text.js';
import {
  addSpan,
  createSpanTable,
  findSpan,
  forgetSpans,
  hasRoom,
  UNKNOWN,
  type Span,
  type SpanTable,
} from './span-table.js';
import {
  addSilently,
  addTerm,
  clearTally,
  createTermTally,
  listTally,
  type TermTally,
} from './term-tally.js';
import { compoundEnd, wordEnd, wordStart } from './word-spans.js';

/** Recent texts are remembered, since a text is analysed for its vector, its terms and its ranking in a short time. */
const MAX_RECENT_UNITS = 2 ** 20;
const MAX_RECENT_LENGTH = 16_384;
/** The size of a list beside its text, as a number of units. */
const LIST_UNITS = 1_024;
const recent = new Map<string, TermList>();
let recentUnits = 0;

/**
 * Lists the terms of a text in the order in which they first occur: folded and stemmed words without English stop words, and
 * character pairs in scripts without spaces.
 */
export function listTerms(text: string): TermList {
  const before = recent.get(text);
  if (before) return before;
  const list = countTerms(text);
  if (text.length <= MAX_RECENT_LENGTH) {
    recent.set(text, list);
    recentUnits += text.length + LIST_UNITS;
    forgetOldest();
  }
  return list;
}

function forgetOldest(): void {
  for (const text of recent.keys()) {
    if (recentUnits <= MAX_RECENT_UNITS) return;
    recent.delete(text);
    recentUnits -= text.length + LIST_UNITS;
  }
}

const tally = createTermTally();
/** The known words with and without accents, which make other terms of a word. */
const known: Partial<Record<Accents, KnownWords>> = {};

function countTerms(text: string): TermList {
  const normal = normalizeText(text);
  const accents = accentsOf(normal);
  const words = (known[accents] ??= createKnownWords(tally));
  clearTally(tally);
  for (let start = wordStart(normal, 0); start < normal.length;) {
    const end = wordEnd(normal, start);
    const last = compoundEnd(normal, start, end);
    const isShort = last - start <= MAX_WORD_LENGTH;
    if (!isShort || !countKnown(words, normal, start, last))
      countNew(words, { text: normal, start, end: last }, { accents, isCompound: last > end });
    const marked = markedTerm(normal, start, end);
    if (marked !== null) addSilently(tally, marked);
    start = wordStart(normal, last);
  }
  return listTally(tally);
}

const accentsOf = (normal: string): Accents => (hasTones(normal) ? 'kept' : 'folded');

interface PieceKind {
  readonly accents: Accents;
  /** True for several words, or one with signs. */
  readonly isCompound: boolean;
}

function countNew(words: KnownWords, span: Span, kind: PieceKind): void {
  const piece = span.text.slice(span.start, span.end);
  const { named, joined, silent, stops, singles } = splitPiece(piece, kind);
  const others = [...joined, ...silent, ...stops, ...singles];
  for (const term of named) addTerm(tally, term);
  for (const term of others) addSilently(tally, term);
  if (piece.length <= MAX_WORD_LENGTH && !isUnspaced(piece)) remember(words, span, { named, others });
}

const splitPiece = (piece: string, { accents, isCompound }: PieceKind): Terms =>
  isCompound ? splitCompound(piece, accents) : splitWord(piece, accents);

/** The last queries, since a search analyses its query for its vector, its terms and its ranking. */
const MAX_RECENT_QUERIES = 16;
const recentQueries = new Map<string, TermList>();

/**
 * Lists the terms of a query: the terms of a text, but stop words only where it has nothing else, and single characters of
 * scripts without spaces only where there are no two in a row.
 */
export function listQueryTerms(query: string): TermList {
  const before = recentQueries.get(query);
  if (before) return before;
  const list = countQueryTerms(query);
  const { value: oldest } = recentQueries.keys().next();
  if (oldest !== undefined && recentQueries.size >= MAX_RECENT_QUERIES) recentQueries.delete(oldest);
  recentQueries.set(query, list);
  return list;
}

function countQueryTerms(query: string): TermList {
  const normal = normalizeText(query);
  const termsOf = createPieces(accentsOf(normal));
  const asked: number[] = [];
  const marks: number[] = [];
  const stops: number[] = [];
  for (let start = wordStart(normal, 0); start < normal.length;) {
    const end = wordEnd(normal, start);
    const last = compoundEnd(normal, start, end);
    const terms = termsOf(normal.slice(start, last), last > end);
    const marked = markedTerm(normal, start, end);
    for (const term of terms.named) asked.push(term);
    for (const term of terms.joined) asked.push(term);
    if (terms.singles.length === 1) for (const term of terms.singles) asked.push(term);
    for (const term of terms.stops) stops.push(term);
    if (marked !== null) marks.push(marked);
    start = wordStart(normal, last);
  }
  const all = createTermTally();
  for (const term of asked.length > 0 ? asked : stops) addTerm(all, term);
  for (const term of marks) addTerm(all, term);
  return listTally(all);
}

/** Splits each piece of a query once: one sign may be normalised to four words, and stand in it thirty thousand times. */
function createPieces(accents: Accents): (piece: string, isCompound: boolean) => Terms {
  const pieces = new Map<string, Terms>();
  return (piece, isCompound) => {
    const before = pieces.get(piece);
    if (before) return before;
    const terms = splitPiece(piece, { accents, isCompound });
    pieces.set(piece, terms);
    return terms;
  };
}

/** The terms of a text, to be looked up. See `listTerms`. */
export const analyzeText = (text: string): TermCounts => lookedUp(listTerms(text));

/** The terms of a query, to be looked up. See `listQueryTerms`. */
export const analyzeQuery = (query: string): TermCounts => lookedUp(listQueryTerms(query));

const lookedUp = ({ length, terms, counts }: TermList): TermCounts => ({
  length,
  counts: new Map(Array.from(terms, (term, i) => [term, counts[i]])),
});

const MAX_WORDS = 65_536;

/** Words that were seen before, with their terms. It forgets all of them when it is full. */
interface KnownWords {
  readonly spans: SpanTable;
  /** The terms of each word, from its value on: how many of them count in the length, how many do not, and the terms. */
  readonly terms: Uint32Array;
  used: number;
  /** The tally that they are counted in. */
  readonly tally: TermTally;
}

const createKnownWords = (tally: TermTally): KnownWords => ({
  tally,
  spans: createSpanTable({ pieces: MAX_WORDS, units: 8 * MAX_WORDS }),
  terms: new Uint32Array(5 * MAX_WORDS),
  used: 0,
});

/** Adds the terms of the word from `start` to `end` to the tally. @returns false for a word that is not known */
function countKnown({ spans, terms, tally }: KnownWords, text: string, start: number, end: number): boolean {
  const place = findSpan(spans, text, start, end);
  if (place === UNKNOWN) return false;
  const first = place + 2;
  const others = first + terms[place];
  const last = others + terms[place + 1];
  for (let at = first; at < others; at += 1) addTerm(tally, terms[at]);
  for (let at = others; at < last; at += 1) addSilently(tally, terms[at]);
  return true;
}

function remember(
  words: KnownWords,
  span: Span,
  { named, others }: { readonly named: readonly number[]; readonly others: readonly number[] },
): void {
  const size = 2 + named.length + others.length;
  if (!hasRoom(words.spans, span) || words.used + size > words.terms.length) {
    forgetSpans(words.spans);
    words.used = 0;
  }
  if (!addSpan(words.spans, span, words.used)) return;
  words.terms.set([named.length, others.length, ...named, ...others], words.used);
  words.used += size;
}
