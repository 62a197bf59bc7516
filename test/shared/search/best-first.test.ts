import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bestFirst } from '../../../src/shared/search/candidates.js';

/** Few values of each, so that ties are many. */
const scored = fc.record({
  documentId: fc.constantFrom('a', 'b', 'c'),
  generation: fc.constantFrom('old', 'new'),
  number: fc.nat(3),
  score: fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
});

const minScores = fc.constantFrom(0, 0.5, 1);

describe('candidates, best first', () => {
  test('come by falling score, document, chunk number and place; none scores less than asked', () => {
    fc.assert(
      fc.property(
        fc.array(scored, { maxLength: 40 }),
        minScores,
        fc.integer({ min: 1, max: 60 }),
        (items, minScore, k) => {
          const expected = items
            .filter(({ score }) => score >= minScore)
            .sort(
              (a, b) =>
                b.score - a.score ||
                Number(a.documentId > b.documentId) - Number(a.documentId < b.documentId) ||
                a.number - b.number,
            );
          expect([...bestFirst(items, { k, minScore })]).toEqual(expected);
        },
      ),
    );
  });

  test('are put in order as far as they are taken, because that takes longest', () => {
    let looks = 0;
    const items = Array.from({ length: 1_000 }, (_, number) => ({
      documentId: 'a',
      generation: 'new',
      number,
      get score() {
        looks += 1;
        return ((number * 919) % 1_000) / 1_000;
      },
    }));
    const page: number[] = [];
    for (const { number } of bestFirst(items, { k: 10, minScore: 0 })) {
      page.push(number);
      if (page.length === 10) break;
    }
    // All of them in order would be more than twenty looks at each.
    expect(looks).toBeLessThan(4 * items.length);
    expect(page.map((number) => items[number]?.score)).toEqual(
      Array.from({ length: 10 }, (_, i) => (999 - i) / 1_000),
    );
  });
});
