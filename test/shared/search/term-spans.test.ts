import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { normalizeText } from '../../../src/shared/text/analysis/normalize-text.js';
import { placeNormalText } from '../../../src/shared/text/analysis/normal-places.js';
import { listQueryTerms, listTerms } from '../../../src/shared/text/list-terms.js';
import { findTerms, nameTerms } from '../../../src/shared/search/term-spans.js';
import { anyCharacter } from '../../support/any-character.js';

async function marked(text: string, query: string): Promise<string[]> {
  const spans = await findTerms(text, new Set(listQueryTerms(query).terms));
  return spans.map(({ start, end }) => text.slice(start, end));
}

test.each([
  ['The running heron runs.', 'run', ['running', 'runs']],
  ['Ein Café in Zürich', 'cafe zurich', ['Café', 'Zürich']],
  ['COVID-19 and covid', 'COVID-19', ['COVID-19', 'covid']],
  ['a well-known e-mail', 'known email', ['known', 'e-mail']],
  ['漁港の灯台と東京都', '東京都の漁港', ['漁港', '東京都']],
  ['港', '港', ['港']],
  ['by Art. 6 Abs. 1 and 6', 'Art. 6', ['Art. 6', '6']],
  ['see § 12 and §12 and 13', '§ 12', ['§ 12', '§12']],
  ['the .NET of nets', '.NET', ['.NET', 'nets']],
  ['our vitamin A store', 'vitamin A', ['vitamin A']],
  ['a field of 12 m² and 13 ㎏', 'm2', ['m²']],
  ['of m² alone', 'm2 2', ['m²']],
  ['the patient’s chart', "patient's", ['patient’s']],
  ['a price of 1\u00a0000 euros', '1,000', ['1\u00a0000']],
  ['ｶﾞｽ and ガス', 'ガス', ['ｶﾞｽ', 'ガス']],
  ['Đường phố má', 'má ơi', ['má']],
  ['to be or not', 'to be or not to be', ['to be or not']],
  ['parseHttpHeader', 'http', ['parseHttpHeader']],
  ['nothing here', 'heron', []],
])('marks in %j what %j is found by', async (text, query, expected) => {
  const parts = await marked(text, query);
  expect(query === 'to be or not to be' ? [parts.join(' ')] : parts).toEqual(expected);
});

test('marks at most as many parts as are asked for', async () => {
  const spans = await findTerms('heron '.repeat(500), new Set(listQueryTerms('heron').terms), { max: 100 });
  expect(spans).toHaveLength(100);
});

test('looks once at a long part that many terms were made of', async () => {
  // The two letters of Hangul become one that no cluster holds, so that all up to the next blank counts as one part.
  const text = `ㄱㅏ${'international,'.repeat(3_600)}`;
  const terms = new Set(listQueryTerms('international').terms);
  const before = process.cpuUsage();
  const spans = await findTerms(text, terms);
  const { user } = process.cpuUsage(before);
  expect(spans).toEqual([{ start: 0, end: text.length }]);
  expect(user / 1_000).toBeLessThan(2_500);
});

test('names each term of a query as the query writes it', async () => {
  const names = await nameTerms('Café herons of COVID-19, Art. 6');
  const of = (query: string) => Array.from(listQueryTerms(query).terms, (term) => names.get(term));
  expect(of('cafe')).toEqual(['Café']);
  expect(of('heron')).toEqual(['herons']);
  expect(of('COVID-19')).toEqual(['COVID', '19', 'COVID-19']);
  expect(of('Art. 6')).toContain('Art. 6');
});

test('names the terms of a long part that was normalised as a whole, and cuts long names', async () => {
  const query = `ㄱㅏ${'中文'.repeat(1_000)} ${'x'.repeat(1_000)}`;
  const names = [...(await nameTerms(query)).values()];
  expect(names).toContain('中文');
  expect(Math.max(...names.map(({ length }) => length))).toBe(64);
});

const WORDS = [
  'heron',
  'Herons',
  'running',
  'Zürich',
  'naïve',
  'Ωmega',
  'сеть',
  '3.14',
  'e-mail',
  '🐟',
  'the',
  'to',
  '漁港の灯台',
  '東京',
  'ｶﾞｽ',
  '한국어',
  'ไทย',
  'm²',
  '12 m²',
  '§ 12',
  'Art. 6',
  '.NET',
  'C++',
  'IT',
  'A',
  'l’homme',
  "don't",
  'x\u0301',
  '½',
  '㎏',
  '1 000',
  'parseHttp',
  '\u00ad',
  '\ud800',
  'العربية',
  'हिन्दी',
];
const piece = fc.oneof(
  { arbitrary: fc.constantFrom(...WORDS), weight: 4 },
  fc.string({ unit: anyCharacter, maxLength: 6 }),
);
const gap = fc.constantFrom(' ', '', '\n', '. ', '-', "'", '\u00a0', '，');
const written = fc
  .array(fc.tuple(piece, gap), { maxLength: 14 })
  .map((pairs) => pairs.flat().join(''))
  .map((text) => text.toWellFormed());
/** Accents tell words apart where a text has these, so that a part alone says less. */
const TONES = /[\u1ea0-\u1ef9ơưƠƯ]/u;

test('knows the place of each unit of a normal text', () => {
  fc.assert(
    fc.property(written, (text) => {
      const { text: normal, placeOf } = placeNormalText(text);
      expect(normal).toBe(normalizeText(text));
      let last = 0;
      for (let at = 0; at < normal.length; at += 1) {
        const { start, end } = placeOf({ start: at, end: at + 1 });
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(text.length);
        last = start;
      }
    }),
    { numRuns: 200 },
  );
});

test('marks parts that have a term of the query each, and none of the terms is left out', async () => {
  await fc.assert(
    fc.asyncProperty(
      written.filter((text) => !TONES.test(text.normalize('NFKC'))),
      written,
      async (text, query) => {
        const wanted = new Set(listQueryTerms(query).terms);
        const spans = await findTerms(text, wanted);
        const held = new Set<number>();
        let last = -1;
        for (const { start, end } of spans) {
          expect(start).toBeGreaterThan(last);
          expect(end).toBeGreaterThan(start);
          last = end;
          const terms = listTerms(text.slice(start, end)).terms.filter((term) => wanted.has(term));
          expect(terms).not.toHaveLength(0);
          for (const term of terms) held.add(term);
        }
        const missing = listTerms(text).terms.filter((term) => wanted.has(term) && !held.has(term));
        expect(missing).toHaveLength(0);
      },
    ),
    { numRuns: 500 },
  );
});
