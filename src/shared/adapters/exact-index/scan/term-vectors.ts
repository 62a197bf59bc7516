import { packedLength, readTerms } from '../../../text/packed-terms.js';
import { divisorOf, saturated, termProduct } from '../../../text/term-vectors.js';
import type { MirroredDocument } from '../mirror/mirrored.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { Partition, Partitions } from '../tables/partitions.js';
import type { ChunkVectors } from './chunk-vectors.js';
import type { Selection } from './selection.js';
import type { Mask } from './working-mask.js';

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links' | 'terms' | 'tieOf' | 'divisors'>;
  /** By document slot. */
  readonly documents: readonly (MirroredDocument | undefined)[];
  readonly partitions: Pick<Partitions, 'readableBy'>;
}

/** Vectors of the builtin embedder, which are made of the terms of chunks when they are asked for instead of being held. */
export function createTermVectors(tables: Tables): ChunkVectors {
  /** What came after it is computed by the search that first needs it. */
  let prepared = 0;
  return {
    prepare: (isTimeLeft) => {
      const { links } = tables.chunks;
      // There are fewer only after everything was cleared.
      if (prepared > links.size) prepared = 0;
      for (; prepared < links.size; prepared += 1) {
        if (prepared % CHUNKS_AT_ONCE === 0 && !isTimeLeft()) return false;
        if (links.documentOf(prepared) >= 0) divisorAt(tables.chunks, prepared);
      }
      return true;
    },
    similarityTo: (vector) => (slot) => {
      const packed = tables.chunks.terms.read(slot);
      return packed ? productWith(vector, packed) / divisorAt(tables.chunks, slot) : 0;
    },
    offerNearest: (vector, mask, selection, callerId) => {
      const similarities = new Float64Array(tables.chunks.links.size);
      for (const { partition } of tables.partitions.readableBy(callerId)) {
        writeSimilarities(tables, { vector, partition, mask, similarities });
        offerAll(tables, { partition, mask, similarities, selection });
      }
    },
  };
}

/** Chunks that are looked at between two looks at the clock. */
const CHUNKS_AT_ONCE = 64;

function productWith(vector: Float32Array, packed: Uint8Array): number {
  const length = packedLength(packed);
  let sum = 0;
  readTerms(packed, (term, count) => {
    sum += termProduct(vector, term) * saturated(count, length);
  });
  return sum;
}

/** Computed once for each chunk, since it takes some microseconds. */
function divisorAt({ divisors, terms }: Tables['chunks'], slot: number): number {
  const known = divisors.get(slot);
  if (known > 0) return known;
  const made = divisorOf(terms.read(slot) ?? NO_TERMS);
  divisors.set(slot, made);
  return made;
}

const NO_TERMS = new Uint8Array(0);

interface Within {
  readonly partition: Partition;
  readonly mask: Mask;
  /** By slot; 0 for the chunks that hold no term of the query. */
  readonly similarities: Float64Array;
}

function writeSimilarities(
  { chunks }: Tables,
  { vector, partition, mask, similarities }: Within & { readonly vector: Float32Array },
): void {
  const products = { of: (term: number) => termProduct(vector, term), weigh: saturated };
  partition.shard.addUp(products, (slot, sum) => {
    if (mask.documents[chunks.links.documentOf(slot)] === 1)
      similarities[slot] = sum / divisorAt(chunks, slot);
  });
}

/** Offers all chunks of the mask, because those that hold no term of the query are nearer than those that point away from it. */
function offerAll(
  { chunks: { links, tieOf }, documents }: Tables,
  { partition, mask, similarities, selection }: Within & { readonly selection: Selection },
): void {
  for (const documentSlot of partition.documents) {
    if (mask.documents[documentSlot] !== 1) continue;
    for (let slot = documents[documentSlot]?.firstChunk ?? -1; slot >= 0; slot = links.after(slot)) {
      const similarity = similarities[slot] ?? 0;
      // The comparison has the precision of the selection.
      const score = Math.fround(similarity);
      if (score < selection.minScore || (score === selection.minScore && tieOf(slot) > selection.maxTie))
        continue;
      selection.offer(slot, similarity, tieOf(slot));
    }
  }
}
