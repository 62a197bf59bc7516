import type { TermList } from '../../index/index.js';
import { splitCompound } from './analysis/compounds.js';
import { hasTones } from './analysis/fold-letters.js';
import { markedTerm } from './analysis/marked-terms.js';
import { normalizeText } from './analysis/normalize-text.js';
import { countKnown, createKnownWords, remember, type KnownWords } from './analysis/known-words.js';
import type { Span } from './span-table.js';
import { addSilently, addTerm, clearTally, createTally, listTally } from './term-tally.js';
import { compoundEnd, wordEnd, wordStart } from './word-spans.js';
import { isUnspaced, MAX_WORD_LENGTH, splitWord, type Accents, type Terms } from './words.js';

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

const tally = createTally();
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
  const [oldest] = recentQueries.keys();
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
  const all = createTally();
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
