import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashTerm } from '../../../src/shared/text/hash-term.js';
import { listTerms } from '../../../src/shared/text/list-terms.js';
import { normalizeText } from '../../../src/shared/text/word-spans.js';
import { splitWord } from '../../../src/shared/text/words.js';

const WORDS = /[\p{L}\p{N}\p{M}]+(?:['’]\p{L}+)?/gu;

/** The terms of a text by a regular expression and a map, in the order in which they first occur. */
function plainTerms(text: string): [term: number, count: number][] {
  const counts = new Map<number, number>();
  for (const word of normalizeText(text).match(WORDS) ?? [])
    for (const term of splitWord(word).map(hashTerm)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return [...counts];
}

function listedTerms(text: string): [term: number, count: number][] {
  const { length, terms, counts } = listTerms(text);
  expect(length).toBe(counts.reduce((sum, count) => sum + count, 0));
  return Array.from(terms, (term, i) => [term, counts[i] ?? 0]);
}

const letter = fc.constantFrom(
  'a',
  'É',
  'ß',
  '9',
  '²',
  '漢',
  'ก',
  '\u0301',
  '𝒜',
  '\u{20000}',
  '\ud800',
  '\udc00',
);
const word = fc.oneof(
  fc.lorem({ maxCount: 1 }),
  fc.string({ unit: letter, maxLength: 50 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom("isn't", "patients'", 'l’homme', "'", '’', "a'b'c", 'parseHttpHeader', "9's"),
);
const gap = fc.constantFrom(' ', '', '_', '\n', '. ', '\u00a0', "'");

test('lists the words of any text as a regular expression finds them', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(word, gap), { maxLength: 30 }), (pairs) => {
      const text = pairs.flat().join('');
      expect(listedTerms(text)).toEqual(plainTerms(text));
    }),
    { numRuns: 400 },
  );
});

test('lists a text of more terms and words than are held at a time', () => {
  const words = Array.from({ length: 70_000 }, (_, i) => `word${String(i)}`);
  const text = words.join(' ');
  const expected = plainTerms(text);
  expect(listedTerms(text)).toEqual(expected);
  for (let first = 0; first < words.length; first += 10_000) {
    const part = words.slice(first, first + 300);
    expect(listedTerms([...part, ...part].join(' '))).toEqual(part.map((each) => [hashTerm(each), 2]));
  }
});

test('lists a text alike when others came in between, so that it is not remembered any more', () => {
  const texts = Array.from({ length: 400 }, (_, i) => `heron${String(i)} `.repeat(i + 1).slice(0, 8_000));
  const first = texts.map(listedTerms);
  expect(texts.map(listedTerms)).toEqual(first);
  expect(first).toEqual(texts.map(plainTerms));
});
