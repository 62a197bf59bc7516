import { expect, test } from '@jest/globals';
import { NOWHERE, packWhereabouts, unpackWhereabouts } from '../../../src/shared/chunks/fields.js';

test('the place of a chunk comes back as it was kept, and none is kept of a chunk that has none', () => {
  const place = { location: { pages: { first: 3, last: 4 } }, section: ['Methods', 'Data'], spots: 'AAI' };
  expect(unpackWhereabouts(packWhereabouts(place))).toEqual(place);
  for (const half of [
    { ...place, location: null },
    { ...place, section: [] },
  ])
    expect(unpackWhereabouts(packWhereabouts(half))).toEqual(half);
  expect(packWhereabouts(NOWHERE)).toBe('');
  expect(unpackWhereabouts(null)).toEqual(NOWHERE);
});

test('a place that is not understood keeps no chunk from being found', () => {
  for (const broken of ['{', '{"location":{"rows":{"first":0,"last":0}}}', '[]', '7'])
    expect(unpackWhereabouts(broken)).toEqual(NOWHERE);
});
