import { describe, expect, test } from '@jest/globals';
import { createTermStore } from '../../../src/index/tables/chunk-table.js';
import { at } from '../../../src/shared/at.js';

const NONE = new Uint8Array(0);

function open() {
  const store = createTermStore();
  return { store, read: (slot: number): Uint8Array => store.read(slot) ?? NONE };
}

/** A thousand bytes that are all the same, of 251 kinds. */
const KINDS = Array.from({ length: 251 }, (_, kind) => new Uint8Array(1_000).fill(kind));
const terms = (slot: number) => at(KINDS, slot % KINDS.length);
describe('a term store', () => {
  test('gives up the memory of what was deleted, and still has all that was not', () => {
    const { store, read } = open();
    for (let slot = 0; slot < 20_000; slot += 1) store.set(slot, terms(slot));
    expect(store.bytes).toBeGreaterThan(20_000_000);
    for (let slot = 0; slot < 20_000; slot += 1) if (slot % 20 !== 0) store.delete(slot);
    expect(store.bytes).toBeLessThan(8_000_000);
    const kept = Array.from({ length: 1_000 }, (_, i) => i * 20);
    expect(kept.every((slot) => Buffer.compare(read(slot), terms(slot)) === 0)).toBe(true);
  });

  test('never writes over what was read before', () => {
    const { store, read } = open();
    for (let slot = 0; slot < 10_000; slot += 1) store.set(slot, terms(slot));
    const before = read(7);
    for (let round = 1; round < 4; round += 1) {
      for (let slot = 0; slot < 10_000; slot += 1) {
        store.delete(slot);
        store.set(slot, terms(slot + round));
      }
    }
    expect(before).toEqual(terms(7));
    expect(read(7)).toEqual(terms(7 + 3));
  });

  test('takes terms that are larger than a slab, and none at all', () => {
    const { store, read } = open();
    const large = new Uint8Array(3_000_000).fill(7);
    store.set(0, large);
    store.set(1, new Uint8Array(0));
    expect(Buffer.compare(read(0), large)).toBe(0);
    expect(store.read(1)).toBeNull();
  });
});
