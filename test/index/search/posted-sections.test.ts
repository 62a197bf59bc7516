import { describe, expect, test } from '@jest/globals';
import { createSlotPositions } from '../../../src/index/postings/shard/slot-positions.js';
import { createPostedSections } from '../../../src/index/search/section-scores.js';
import { WINDOW } from '../../../src/index/postings/segment.js';
import { createShard } from '../../../src/index/postings/shard/shard.js';
import { packTerms } from '../../../src/index/scoring/packed-terms.js';
import { scoresOfDocument } from '../../support/section-scores.js';
import { makeShardParts } from '../support/shard-parts.js';

const query = {
  terms: Uint32Array.of(1, 7, 99, 5_000),
  weights: Float64Array.of(0.4, 0.3, 0.2, 0.1),
  averageLength: 3,
};

/** A term of every chunk, two that some chunks hold, none or several times, and one that none of them holds alone. */
const chunkOf = (slot: number): Uint8Array => {
  const counts = new Map([[1, 1 + (slot % 3)]]);
  if (slot % 5 === 0) counts.set(7, 2);
  if (slot % 400 === 0) counts.set(99, 300);
  return packTerms({ counts, length: [...counts.values()].reduce((sum, n) => sum + n, 0) });
};

function open(size: number, packedOf = chunkOf) {
  const slots = Array.from({ length: size }, (_, slot) => slot);
  const positions = createSlotPositions();
  const shard = createShard({ ...makeShardParts(packedOf), positions });
  shard.add(slots);
  return { shard, slots, posted: createPostedSections(positions, query) };
}

describe('shares of sections from postings', () => {
  test('are to the last digit those of the definition, at the ends of windows, too', () => {
    const { shard, slots, posted } = open(2 * WINDOW + 50);
    shard.compact(() => true);
    for (let first = 3; first + 8 <= slots.length; first += 8) {
      const section = slots.slice(first, first + 8);
      const expected = scoresOfDocument(section.map(chunkOf), query);
      const shares = section.map((slot) => posted(section, slot));
      expect(shares.map((each) => each?.own)).toEqual(expected.map(({ own }) => own));
      expect(shares.map((each) => each && (each.own + each.section) / 2)).toEqual(
        expected.map(({ score }) => score),
      );
    }
  });

  test('are not told of chunks that wait, are apart, in another order, or may have no terms', () => {
    const none = new Uint8Array(0);
    const { shard, posted } = open(100, (slot) => (slot === 50 ? none : chunkOf(slot)));
    expect(posted([0, 1, 2], 1)).toBeNull();
    shard.compact(() => true);
    expect(posted([0, 1, 2], 1)).not.toBeNull();
    expect(posted([0, 2], 0)).toBeNull();
    expect(posted([1, 0], 0)).toBeNull();
    expect(posted([49, 50, 51], 49)).toBeNull();
  });
});
