import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { comparisonTags, equalsTag, existsTag, filterTags } from '../../../src/shared/filters/index-tags.js';
import { matchesFilter } from '../../../src/shared/filters/match.js';
import type { Filter, Operand } from '../../../src/shared/filters/parse.js';
import { matchable } from '../../support/matchable.js';

const comparisons = ['gt', 'gte', 'lt', 'lte'] as const;
const numbers = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

function has(metadata: Parameters<typeof matchable>[0], tags: readonly string[]): boolean {
  const held = new Set(filterTags(matchable(metadata)));
  return tags.some((each) => held.has(each));
}

test('a document that passes a comparison of numbers has one of its tags, and so has any that equals its bound', () => {
  fc.assert(
    fc.property(fc.constantFrom(...comparisons), numbers, numbers, (comparison, value, bound) => {
      const operand: Operand = { type: 'number', value: bound };
      const tags = comparisonTags('n', comparison, operand);
      const filter: Filter = { type: 'compare', path: 'n', comparison, operand };
      if (matchesFilter(matchable({ n: value }), filter)) expect(has({ n: value }, tags)).toBe(true);
      expect(has({ n: bound }, tags)).toBe(true);
      expect(new Set(tags).size).toBe(tags.length);
    }),
    { numRuns: 500 },
  );
});

test('a document that is far on the other side of a comparison has none of its tags', () => {
  for (const [value, bound] of [
    [1, 2],
    [-2, -1],
    [-1, 1],
    [0, 1e-300],
    [100, 1e9],
  ] as const) {
    const above = comparisonTags('n', 'gt', { type: 'number', value: bound });
    const below = comparisonTags('n', 'lt', { type: 'number', value });
    expect([has({ n: value }, above), has({ n: bound }, below)]).toEqual([false, false]);
    expect([has({ n: bound }, above), has({ n: value }, below)]).toEqual([true, true]);
    expect(comparisonTags('n', 'gte', { type: 'number', value: bound })).toEqual(above);
    expect(comparisonTags('n', 'lte', { type: 'number', value })).toEqual(below);
  }
});

test('the tags of a comparison of dates are those of their instants, and no numbers have them', () => {
  const may = Date.UTC(2024, 4, 1);
  const tags = comparisonTags('at', 'gte', { type: 'instant', value: may });
  expect(has({ at: '2025-01-01' }, tags)).toBe(true);
  expect(has({ at: '2012-01-01' }, tags)).toBe(false);
  expect(has({ at: 2 * may }, tags)).toBe(false);
  expect(has({ at: ['2012-01-01', '2025-01-01'] }, tags)).toBe(true);
});

test('a comparison names few tags, by which nothing is lost of -0', () => {
  for (const comparison of comparisons) {
    const tags = comparisonTags('n', comparison, { type: 'number', value: 3.25 });
    expect(tags.length).toBeLessThanOrEqual(1 + 5 * 15);
    const zero = (value: number) => comparisonTags('n', comparison, { type: 'number', value });
    expect(zero(-0)).toEqual(zero(0));
  }
  expect(equalsTag('n', -0)).toBe(equalsTag('n', 0));
  expect(equalsTag('n', null)).not.toBe(equalsTag('n', 'null'));
  expect(existsTag('n')).not.toBe(existsTag('m'));
});

test('elements of lists have tags of their own, objects in them those of their paths, and lists in lists none', () => {
  const metadata = { list: [1, { deep: 'x' }, [2]], object: { inner: true } };
  expect(has(metadata, [equalsTag('list', 1)])).toBe(true);
  expect(has(metadata, [equalsTag('list', 2)])).toBe(false);
  expect(has(metadata, [equalsTag('list.deep', 'x')])).toBe(true);
  expect(has(metadata, [equalsTag('object.inner', true)])).toBe(true);
  expect(has(metadata, [existsTag('object')])).toBe(true);
  expect(has(metadata, [existsTag('inner')])).toBe(false);
});
