import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TermWeights } from '../../../../src/index/index.js';
import { createLikelyChunks, createTopChunks } from '../../../../src/index/search/top-chunks.js';
import { MAX_LISTS } from '../../../../src/index/postings/segment-columns.js';
import { spareOf } from '../../../../src/index/postings/score-segment.js';
import { createShard, type ShardParts } from '../../../../src/index/postings/shard/shard.js';
import { WINDOW } from '../../../../src/index/postings/segment.js';
import { coveredShare } from '../../../../src/index/scoring/score.js';
import { packTerms, unpackTerms } from '../../../../src/index/scoring/packed-terms.js';
import { makeShardParts, noKernel } from '../../support/shard-parts.js';

const TERMS = [0, 1, 255, 256, 65_536, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1];

/** A text of few terms, some of them repeated more often than a packed count tells. */
const chunk = fc
  .uniqueArray(fc.constantFrom(...TERMS), { maxLength: 5 })
  .chain((terms) =>
    fc
      .array(fc.constantFrom(1, 2, 3, 255, 400), { minLength: terms.length, maxLength: terms.length })
      .map((counts) => new Map(terms.map((term, i) => [term, counts[i] ?? 1]))),
  )
  .map((counts) => packTerms({ counts, length: [...counts.values()].reduce((sum, n) => sum + n, 0) }));

/** Adds many chunks in free slots, takes each n-th of the chunks away, or does some of the work that waits. */
const step = fc.oneof(
  fc.record({ type: fc.constant('add' as const), count: fc.integer({ min: 1, max: 3_000 }) }),
  fc.record({ type: fc.constant('remove' as const), every: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ type: fc.constant('compact' as const), looks: fc.integer({ min: 0, max: 40 }) }),
);

const query = fc
  .record({
    weights: fc.array(fc.double({ min: 0.001, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 }),
    averageLength: fc.double({ min: 0.5, max: 500, noNaN: true }),
  })
  .map(({ weights, averageLength }): TermWeights => {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return {
      terms: Uint32Array.of(0, 255, 256, 2 ** 31, 2 ** 32 - 1),
      weights: Float64Array.from(weights, (weight) => weight / sum),
      averageLength,
    };
  });

function open(makeKernel: ShardParts['makeKernel']) {
  const kept = new Map<number, Uint8Array>();
  const free: number[] = [];
  let next = 0;
  const read = (slot: number) => {
    const packed = kept.get(slot);
    return packed && packed.length > 0 ? packed : null;
  };
  const shard = createShard({ ...makeShardParts(read), makeKernel });
  return {
    kept,
    shard,
    add: (added: readonly Uint8Array[]) => {
      const slots = added.map((packed) => {
        const slot = free.pop() ?? next++;
        kept.set(slot, packed);
        return slot;
      });
      shard.add(slots);
    },
    remove: (slots: readonly number[]) => {
      shard.remove(slots);
      for (const slot of slots) kept.delete(slot);
      free.push(...slots);
    },
  };
}

type Opened = ReturnType<typeof open>;

const bySlot = (a: number, b: number) => a - b;

/** Returns the chunks that hold a term, best first, ties by slot, found one by one. */
function scanned({ kept }: Opened, words: TermWeights): [slot: number, score: number][] {
  const counts = new Uint8Array(words.terms.length);
  const scored = [...kept].flatMap(([slot, packed]): [number, number][] => {
    const score = coveredShare(packed, words, counts);
    return score > 0 ? [[slot, score]] : [];
  });
  return scored.sort(([a, high], [b, low]) => low - high || bySlot(a, b));
}

/** Returns the same, by postings. */
function found({ kept, shard }: Opened, words: TermWeights, limit: number): [slot: number, score: number][] {
  const top = createTopChunks(limit, bySlot);
  const counts = new Uint8Array(words.terms.length);
  const take = (slot: number) => {
    const packed = kept.get(slot);
    if (packed) top.collect(slot, coveredShare(packed, words, counts));
  };
  const likely = createLikelyChunks({ limit, minScore: 0, spare: spareOf(words.terms.length), take });
  shard.score(words, likely);
  likely.finish();
  const { slots, scores } = top.take();
  return Array.from(slots, (slot, i) => [slot, scores[i] ?? 0]);
}

function expectSame(opened: Opened, words: TermWeights): void {
  const all = scanned(opened, words);
  for (const limit of [1, 10, 100, all.length + 1])
    expect(found(opened, words, limit)).toEqual(all.slice(0, limit));
  const { kept, shard } = opened;
  const unpacked = Array.from(kept.values(), unpackTerms);
  expect(shard.chunks).toBe(kept.size);
  expect(shard.totalLength).toBe(unpacked.reduce((sum, { length }) => sum + length, 0));
  const holding = TERMS.map((term) => unpacked.filter(({ counts }) => counts.has(term)).length);
  expect([...shard.frequenciesOf(TERMS)]).toEqual(TERMS.map((term, i) => [term, holding[i]]));
}

/** Says this many times that time is left. */
function looks(count: number): () => boolean {
  let left = count;
  return () => (left -= 1) >= 0;
}

describe.each([
  { name: 'a shard of postings', makeKernel: makeShardParts(() => null).makeKernel },
  { name: 'a shard of postings without memory for kernels', makeKernel: noKernel },
])('$name', ({ makeKernel }) => {
  test('finds the best as a scan does, to the last digit, whatever came and went and however far its work is', () => {
    fc.assert(
      fc.property(
        fc.array(chunk, { minLength: 1, maxLength: 40 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        query,
        (chunks, steps, words) => {
          const opened = open(makeKernel);
          for (const each of steps) {
            if (each.type === 'add')
              opened.add(
                Array.from({ length: each.count }, (_, i) => chunks[i % chunks.length] ?? new Uint8Array()),
              );
            else if (each.type === 'remove')
              opened.remove([...opened.kept.keys()].filter((_, i) => i % each.every === 0));
            else opened.shard.compact(looks(each.looks));
            expectSame(opened, words);
          }
          while (!opened.shard.compact(looks(3)));
          expectSame(opened, words);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('finds the best among more chunks than two segments hold, of which few hold the heaviest word', () => {
    const opened = open(makeKernel);
    let state = 1;
    const random = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
    const vocabulary = Array.from({ length: 300 }, (_, i) => Math.imul(i + 1, 0x9e3779b9) >>> 0);
    opened.add(
      Array.from({ length: 70_000 }, () => {
        const counts = new Map<number, number>();
        // The further back in the vocabulary, the rarer.
        for (let i = 0; i < 12; i += 1) {
          const term = vocabulary[Math.floor(300 * random() ** 3)] ?? 0;
          counts.set(term, (counts.get(term) ?? 0) + 1);
        }
        return packTerms({ counts, length: 6 + Math.floor(40 * random()) });
      }),
    );
    const words = (places: readonly number[]): TermWeights => {
      const terms = Uint32Array.from(places, (place) => vocabulary[place] ?? 0).sort();
      const weights = Float64Array.from(terms, (term) => 1 + vocabulary.indexOf(term));
      const sum = weights.reduce((total, weight) => total + weight, 0);
      return { terms, weights: weights.map((weight) => weight / sum), averageLength: 26 };
    };
    const queries = [
      words([0]),
      words([299]),
      words([0, 1, 2, 3]),
      words([0, 5, 80, 299]),
      words([7, 90, 150, 200, 250]),
    ];
    for (let round = 0; round < 2; round += 1) {
      for (const each of queries) {
        const all = scanned(opened, each);
        for (const limit of [1, 26, 1_000]) expect(found(opened, each, limit)).toEqual(all.slice(0, limit));
      }
      while (!opened.shard.compact(() => true));
    }
  });

  test('finds the best where it is the last chunk of a window that holds a common word', () => {
    const opened = open(makeKernel);
    const last = 2 * WINDOW - 1;
    opened.add(
      Array.from({ length: 2 * WINDOW }, (_, n) => {
        const isRare = n === last || n === 500;
        const counts = new Map([[1, 1], ...(isRare ? [[2, 1] as const] : [])]);
        return packTerms({ counts, length: n === last ? 10 : 11 });
      }),
    );
    while (!opened.shard.compact(() => true));
    const words = { terms: Uint32Array.of(1, 2), weights: Float64Array.of(0.4, 0.6), averageLength: 10 };
    for (const limit of [1, 2, 3])
      expect(found(opened, words, limit)).toEqual(scanned(opened, words).slice(0, limit));
  });

  test('finds the best by a query of more words than a kernel takes', () => {
    const opened = open(makeKernel);
    const counts = (n: number) =>
      new Map(Array.from({ length: 5 }, (_, i) => [(n * 7 + i * 331) % 2_000, 1 + (n % 3)]));
    opened.add(
      Array.from({ length: 5_000 }, (_, n) => packTerms({ counts: counts(n), length: 5 + (n % 11) })),
    );
    while (!opened.shard.compact(() => true));
    for (const size of [MAX_LISTS, MAX_LISTS + 1]) {
      const terms = Uint32Array.from({ length: size }, (_, i) => i);
      const words = { terms, weights: Float64Array.from(terms, () => 1 / size), averageLength: 10 };
      expect(found(opened, words, 26)).toEqual(scanned(opened, words).slice(0, 26));
    }
  });

  test('reads a chunk that waits once to count terms, however many these are', () => {
    const reads = { count: 0 };
    const packed = packTerms({ counts: new Map([[1, 2]]), length: 2 });
    const read = () => {
      reads.count += 1;
      return packed;
    };
    const shard = createShard(makeShardParts(read));
    shard.add(Array.from({ length: 50 }, (_, slot) => slot));
    reads.count = 0;
    const terms = Array.from({ length: 5_000 }, (_, term) => term);
    expect(shard.frequenciesOf(terms).get(1)).toBe(50);
    expect(reads.count).toBe(50);
  });

  test('looks at few chunks in one step of a merge, and ends although no time is ever left', () => {
    const reads = { count: 0 };
    const read = (slot: number) => {
      reads.count += 1;
      return packTerms({ counts: new Map([[slot, 1]]), length: 1 });
    };
    const shard = createShard(makeShardParts(read));
    shard.add(Array.from({ length: 20_000 }, (_, slot) => slot));
    let steps = 0;
    for (let isDone = false; !isDone; steps += 1) {
      reads.count = 0;
      isDone = shard.compact(() => false);
      expect(reads.count).toBeLessThanOrEqual(2_048);
    }
    expect(steps).toBeGreaterThan(600);
    expect(shard.frequenciesOf([19_999]).get(19_999)).toBe(1);
  });

  test('holds nothing of what has no terms', () => {
    const opened = open(makeKernel);
    opened.add([new Uint8Array()]);
    expect(
      found(opened, { terms: Uint32Array.of(1), weights: Float64Array.of(1), averageLength: 1 }, 5),
    ).toEqual([]);
    opened.remove([0]);
    expect(opened.shard.chunks).toBe(0);
  });
});
