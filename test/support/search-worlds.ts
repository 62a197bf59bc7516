import fc from 'fast-check';
import type { MatchableDocument } from '../../src/shared/document.js';
import {
  createHybridRanker,
  createLexicalRanker,
  createSemanticRanker,
} from '../../src/shared/search/ranking.js';

export interface Stored {
  readonly record: MatchableDocument;
  /** The texts that the document serves. */
  readonly texts: readonly string[];
  /** Chunks of a generation that serves no longer, or not yet. */
  readonly unserved: readonly string[];
}

export const RANKERS = {
  lexical: createLexicalRanker(),
  semantic: createSemanticRanker(),
  hybrid: createHybridRanker(0.6),
};
/** A term is in more than half of them, so that the first pass may leave it out. */
export const COMMON = Array.from(
  { length: 230 },
  (_, i) => `${i < 150 ? 'harbour' : 'pier'} filler${String(i)}`,
);
const LONG = Array.from({ length: 900 }, (_, i) => `verbose${String(i)}`).join(' ');
/** More stale chunks than candidates of any pass. */
const MANY = 450;
const QUERIES = [
  'harbour crane',
  'harbour mooring crane wagon',
  'crane ledger wagon copper',
  'wagon',
  'harbour',
  '?!',
];

const word = fc.constantFrom('harbour', 'crane', 'ledger', 'wagon', 'copper', 'mooring');
const text = fc.oneof(
  { arbitrary: fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' ')), weight: 4 },
  // A chunk with a rare term among hundreds of others scores less than a chunk about a common one.
  { arbitrary: word.map((each) => `${each} ${LONG}`), weight: 1 },
);
const texts = (maxLength: number) => fc.array(text, { maxLength });
const document = fc.record({
  texts: texts(4),
  unserved: fc.oneof(fc.constant([]), texts(3), fc.constantFrom(MANY, 12).map(copies)),
  isReadable: fc.boolean(),
  colour: fc.constantFrom('red', 'blue'),
});
export const world = fc.record({
  documents: fc.array(document, { minLength: 1, maxLength: 8 }),
  hasCommon: fc.boolean(),
  /** True if the index leaves out documents that the caller may not have; it may be late with it. */
  isIndexCurrent: fc.boolean(),
  isBeyondLimit: fc.boolean(),
  ranking: fc.constantFrom('lexical' as const, 'semantic' as const, 'hybrid' as const),
});
export const question = fc.record({
  query: fc.constantFrom(...QUERIES),
  k: fc.constantFrom(1, 2, 10, 40),
  minScore: fc.constantFrom(0, 0, 0.03, 0.2),
  per: fc.constantFrom('chunk' as const, 'document' as const),
  colour: fc.constantFrom(null, 'red'),
});

/** Stale chunks that are better than anything else. */
function copies(count: number): string[] {
  return Array.from({ length: count }, () => 'crane wagon harbour ledger copper');
}

export type RandomDocument = typeof document extends fc.Arbitrary<infer Value> ? Value : never;
