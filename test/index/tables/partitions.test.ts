import { expect, test } from '@jest/globals';
import { MAX_SEGMENT_CHUNKS } from '../../../src/index/postings/segment.js';
import { createShard } from '../../../src/index/postings/shard/shard.js';
import { createAccessClasses, createPartitions } from '../../../src/index/tables/partitions.js';
import { packTerms } from '../../../src/index/scoring/packed-terms.js';
import { makeShardParts } from '../support/shard-parts.js';

const TERM = 7;
const packed = packTerms({ length: 1, counts: new Map([[TERM, 1]]) });

/** Partitions whose chunks all hold one term, and how many of them were read. */
function open() {
  let read = 0;
  const told: boolean[] = [];
  const parts = makeShardParts(() => {
    read += 1;
    return packed;
  });
  const partitions = createPartitions({
    createShard: () => createShard(parts),
    readersOf: () => ['ann'],
    onDirty: ({ isFull }) => told.push(isFull),
  });
  const access = createAccessClasses().acquire('a', null);
  const partition = partitions.enter('ann', access, 0);
  let next = 0;
  return {
    partitions,
    partition,
    told,
    access,
    add: (count: number) => {
      partition.shard.add(Array.from({ length: count }, () => next++));
      partitions.touch(partition);
    },
    /** Returns the number of chunks that are read during the work: chunks that are put into a segment, and chunks that wait. */
    readsOf: (work: () => void): number => {
      const before = read;
      work();
      return read - before;
    },
  };
}

const noTime = () => false;
const allTime = () => true;

test('chunks that fill a whole segment are put into one while more comes, and no others', () => {
  const { partitions, partition, told, add, readsOf } = open();
  const found = () => partition.shard.frequenciesOf([TERM]).get(TERM);
  add(MAX_SEGMENT_CHUNKS - 1);
  expect(told).toEqual([false]);
  expect(readsOf(() => partitions.flush(allTime))).toBe(0);
  add(21);
  expect(told).toEqual([false, true]);
  let slices = 1;
  const filled = readsOf(() => {
    while (!partitions.flush(noTime)) slices += 1;
  });
  expect(filled).toBe(MAX_SEGMENT_CHUNKS);
  expect(slices).toBeGreaterThan(100);
  // Only chunks that wait are read for a count.
  expect(readsOf(found)).toBe(20);
  expect(found()).toBe(MAX_SEGMENT_CHUNKS + 20);
  add(1);
  expect(told).toEqual([false, true, false]);
  expect(partitions.compact(allTime)).toBe(true);
});

test('a partition that went away is not filled any more', () => {
  const { partitions, partition, access, add, readsOf } = open();
  add(MAX_SEGMENT_CHUNKS);
  partition.shard.remove(Array.from({ length: MAX_SEGMENT_CHUNKS }, (_, slot) => slot));
  partitions.leave(partition, access, 0);
  expect(readsOf(() => partitions.flush(allTime))).toBe(0);
  expect(partitions.flush(noTime)).toBe(true);
});
