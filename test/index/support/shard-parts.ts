import { loadPostingsKernel } from '../../../src/index/postings/kernel.js';
import type { ReadTerms } from '../../../src/index/postings/shard/memtable.js';
import { createSlotPositions } from '../../../src/index/postings/shard/slot-positions.js';
import { createScratch } from '../../../src/index/postings/score-segment.js';
import type { ShardParts } from '../../../src/index/postings/shard/shard.js';

const makeKernel = await loadPostingsKernel();

/** Makes the parts that the shards of one index share. */
export const makeShardParts = (read: ReadTerms): ShardParts => ({
  read,
  positions: createSlotPositions(),
  scratch: createScratch(),
  makeKernel,
});

/** Fails as where no more memory can be reserved for kernels, so that scores are added up without them. */
export const noKernel: ShardParts['makeKernel'] = () => {
  throw new RangeError('WebAssembly.Memory(): could not allocate memory');
};
