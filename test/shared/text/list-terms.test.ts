import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashTerm, isAside } from '../../../src/shared/text/hash-term.js';
import { listQueryTerms, listTerms } from '../../../src/shared/text/list-terms.js';
import { leastOfThree } from '../../support/least-of-three.js';
import { processorTimeOf } from '../../support/processor-time.js';

/** The terms of words that blanks part, each listed by itself. */
function termsOfEach(text: string): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const word of text.split(/\s+/u))
    for (const [term, count] of listedTerms(word)) counts.set(term, (counts.get(term) ?? 0) + count);
  return counts;
}

function listedTerms(text: string): [term: number, count: number][] {
  const { length, terms, counts } = listTerms(text);
  expect(length).toBeLessThanOrEqual(counts.reduce((sum, count) => sum + count, 0));
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
/** The surroundings of a word in capitals, of a number and of Vietnamese change its terms. */
const DEPENDENT = /(?<![a-z])[A-Z]{1,4}(?![A-Za-z])|§|(?:^|\s)\d|[\u1ea0-\u1ef9ơư]/u;
const word = fc
  .oneof(
    fc.lorem({ maxCount: 1 }),
    fc.string({ unit: letter, maxLength: 50 }),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom("isn't", "patients'", 'l’homme', "'", '’', "a'b'c", 'parseHttpHeader'),
  )
  .filter((each) => !DEPENDENT.test(each.normalize('NFKC')));
const gap = fc.constantFrom(' ', '', '_', '\n', '. ', '-', "'");

test('lists the words of a text as each is listed by itself, also when they are known', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(word, gap), { maxLength: 30 }), (pairs) => {
      const text = pairs.flat().join('');
      const expected = termsOfEach(text);
      expect(new Map(listedTerms(text))).toEqual(expected);
      expect(new Map(listedTerms(`${text} `))).toEqual(expected);
    }),
    { numRuns: 400 },
  );
});

test('lists a text of more terms and words than are held at a time', () => {
  const words = Array.from({ length: 70_000 }, (_, i) => `word${String(i)}`);
  expect(listedTerms(words.join(' '))).toEqual(words.map((each) => [hashTerm(each), 1]));
  for (let first = 0; first < words.length; first += 10_000) {
    const part = words.slice(first, first + 300);
    expect(listedTerms([...part, ...part].join(' '))).toEqual(part.map((each) => [hashTerm(each), 2]));
  }
});

test('lists a text alike when others came in between, so that it is not remembered any more', () => {
  const texts = Array.from({ length: 400 }, (_, i) => `heron${String(i)} `.repeat(i + 1).slice(0, 8_000));
  const first = texts.map(listedTerms);
  expect(texts.map(listedTerms)).toEqual(first);
});

test('does not count in the length what is kept aside', () => {
  const { length, terms } = listTerms('the heron and 漢字');
  expect(length).toBe(2);
  expect(terms.filter(isAside)).toHaveLength(4);
});

test('lists the longest query quickly, also where each of its signs stands for four words', async () => {
  const query = 'ﷺ'.repeat(32_767);
  let tries = 0;
  const time = () => processorTimeOf(() => listQueryTerms(`${query}${String((tries += 1))}`));
  expect(await leastOfThree(time, 120)).toBeLessThan(120);
});

test('lists a query once for its vector, its terms and its ranking', () => {
  const query = 'How many herons stand in the reeds?';
  expect(listQueryTerms(query)).toBe(listQueryTerms(query));
});
