import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tieKey } from '../../../src/index/tables/document-table.js';

const likeUuid = fc.string({
  unit: fc.constantFrom('-', '0', '9', 'a', 'f', '.', ':', '`', 'g', 'Z'),
  maxLength: 14,
});
const id = fc.oneof(fc.uuid(), likeUuid, fc.string());

test('tie keys never contradict the order of ids', () => {
  fc.assert(
    fc.property(id, id, (a, b) => {
      expect(a < b ? tieKey(a) <= tieKey(b) : tieKey(a) >= tieKey(b)).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test('tie keys tell ids of UUIDs made within the same second apart', () => {
  expect(tieKey('0193f2a4-1b01-7000-8000-000000000000')).toBeLessThan(
    tieKey('0193f2a4-1b21-7000-8000-000000000000'),
  );
});
