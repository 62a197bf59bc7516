import { innerProduct } from '../../src/shared/data-set/stored-vectors.js';
import { createRandom } from '../support/random.js';
import type { Vectors } from './embed-cached.js';

/** Callers of the measurement, and which share of the vectors each may read. */
export const READERS = [
  { name: 'all', share: 1, pick: 'random' },
  { name: 'half', share: 0.5, pick: 'random' },
  { name: 'topical half', share: 0.5, pick: 'nearest' },
  { name: 'topical quarter', share: 0.25, pick: 'nearest' },
  { name: 'tenth', share: 0.1, pick: 'random' },
  { name: 'hundredth', share: 0.01, pick: 'random' },
  { name: 'topical tenth', share: 0.1, pick: 'nearest' },
  { name: 'topical hundredth', share: 0.01, pick: 'nearest' },
] as const;

export type ReaderName = (typeof READERS)[number]['name'];

/**
 * Chooses which of the first `count` rows each may read: random ones, or the rows of one topic (the nearest to the first
 * passage), for whom most queries are of other topics, so that a graph leads away from what they may read.
 */
export function rowsOfReaders(vectors: Vectors, count: number): ReadonlyMap<ReaderName, ReadonlySet<number>> {
  const rows = Array.from({ length: count }, (_, row) => row);
  const topic = vectors.at(0);
  const similarity = rows.map((row) => innerProduct(topic, vectors.at(row)));
  const nearest = rows.toSorted((a, b) => (similarity[b] ?? 0) - (similarity[a] ?? 0));
  const below = createRandom();
  const draws = rows.map(() => below(1_000_000));
  const random = rows.toSorted((a, b) => (draws[a] ?? 0) - (draws[b] ?? 0));
  return new Map(
    READERS.map(({ name, share, pick }) => {
      const ordered = pick === 'nearest' ? nearest : random;
      return [name, new Set(ordered.slice(0, Math.round(share * count)))];
    }),
  );
}
