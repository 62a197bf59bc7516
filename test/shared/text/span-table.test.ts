import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addSpan,
  createSpanTable,
  findSpan,
  forgetSpans,
  hasRoom,
  UNKNOWN,
} from '../../../src/shared/text/span-table.js';

const find = (table: ReturnType<typeof createSpanTable>, word: string): number =>
  findSpan(table, word, 0, word.length);

function remember(table: ReturnType<typeof createSpanTable>, word: string, value: number): void {
  const span = { text: word, start: 0, end: word.length };
  if (!hasRoom(table, span)) forgetSpans(table);
  addSpan(table, span, value);
}

test('finds pieces where they stand in a text, whatever stands around them', () => {
  const table = createSpanTable({ pieces: 8, units: 64 });
  remember(table, 'heron', 7);
  remember(table, 'här\ud83e\udda9', 8);
  expect(findSpan(table, 'a heron stands', 2, 7)).toBe(7);
  expect(findSpan(table, 'a heron stands', 2, 8)).toBe(UNKNOWN);
  expect(findSpan(table, 'a heron stands', 2, 6)).toBe(UNKNOWN);
  expect(findSpan(table, 'här\ud83e\udda9!', 0, 5)).toBe(8);
  expect(find(table, '')).toBe(UNKNOWN);
});

test('never answers with the value of another piece, also when it forgets again and again', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ä', '漢', '\ud800'), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 200 }), (words) => {
      const table = createSpanTable({ pieces: 16, units: 48 });
      const values = new Map<string, number>();
      for (const each of words) {
        const found = find(table, each);
        if (found !== UNKNOWN) expect(found).toBe(values.get(each));
        else {
          values.set(each, values.size);
          remember(table, each, values.get(each) ?? 0);
          expect(find(table, each)).toBe(values.get(each));
        }
      }
    }),
  );
});

test('has room for as many pieces and units as it was made for', () => {
  const table = createSpanTable({ pieces: 4, units: 10 });
  for (const [value, word] of ['one', 'two', 'six'].entries()) remember(table, word, value);
  expect(hasRoom(table, { text: 'a', start: 0, end: 1 })).toBe(true);
  expect(hasRoom(table, { text: 'ab', start: 0, end: 2 })).toBe(false);
  remember(table, 'a', 3);
  expect(hasRoom(table, { text: '', start: 0, end: 0 })).toBe(false);
  expect(['one', 'two', 'six', 'a'].map((word) => find(table, word))).toEqual([0, 1, 2, 3]);
});

test('remembers a few of many pieces that share a hash, so that lookups stay short', () => {
  const sameHash = collidingWords(40);
  const table = createSpanTable({ pieces: 1_024, units: 65_536 });
  for (const [value, word] of sameHash.entries()) remember(table, word, value);
  const known = sameHash.filter((word) => find(table, word) !== UNKNOWN);
  expect(known).toHaveLength(16);
  for (const word of known) expect(find(table, word)).toBe(sameHash.indexOf(word));
});

const FNV_PRIME = 0x01000193;
const step = (hash: number, unit: number): number => Math.imul(hash ^ unit, FNV_PRIME);

/** Words of the same FNV-1a hash: of the two units at the end, one brings the upper half of the hash's state, the other the lower. */
function collidingWords(count: number): string[] {
  const words: string[] = [];
  for (let n = 0; words.length < count; n += 1) {
    const start = `word${String(n)}`;
    const state = [...start].reduce((hash, letter) => step(hash, letter.charCodeAt(0)), 0x811c9dc5);
    for (let unit = 0; unit < 0x10000; unit += 1) {
      const last = step(state, unit) ^ 0x42424242;
      if (last >>> 16 !== 0) continue;
      words.push(start + String.fromCharCode(unit, last));
      break;
    }
  }
  return words;
}
