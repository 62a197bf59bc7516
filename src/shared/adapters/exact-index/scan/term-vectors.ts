import { packedLength, readTerms } from '../../../text/packed-terms.js';
import { divisorOf, saturated, termProduct } from '../../../text/term-vectors.js';
import type { MirroredDocument } from '../mirror/mirrored.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { Partitions } from '../tables/partitions.js';
import type { ChunkVectors } from './chunk-vectors.js';

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links' | 'terms' | 'tieOf' | 'divisors'>;
  /** By document slot. */
  readonly documents: readonly (MirroredDocument | undefined)[];
  readonly partitions: Pick<Partitions, 'readableBy'>;
}

/** Vectors of the builtin embedder, which are made of the terms of chunks when they are asked for instead of being held. */
export function createTermVectors({ chunks, documents, partitions }: Tables): ChunkVectors {
  const { links, terms, tieOf } = chunks;
  /** Computed once for each chunk, since it takes some microseconds. */
  const divisor = (slot: number): number => {
    const known = chunks.divisors.get(slot);
    if (known > 0) return known;
    const made = divisorOf(terms.read(slot) ?? NO_TERMS);
    chunks.divisors.set(slot, made);
    return made;
  };
  return {
    similarityTo: (vector) => (slot) => {
      const packed = terms.read(slot);
      if (!packed) return 0;
      const length = packedLength(packed);
      let sum = 0;
      readTerms(packed, (term, count) => {
        sum += termProduct(vector, term) * saturated(count, length);
      });
      return sum / divisor(slot);
    },
    offerNearest: (vector, mask, selection, callerId) => {
      const similarities = new Float64Array(links.size);
      const products = { of: (term: number) => termProduct(vector, term), weigh: saturated };
      for (const { partition } of partitions.readableBy(callerId)) {
        partition.shard.addUp(products, (slot, sum) => {
          if (mask.documents[links.documentOf(slot)] === 1) similarities[slot] = sum / divisor(slot);
        });
        // Chunks of the other terms are as far from the query as can be without pointing away from it.
        for (const documentSlot of partition.documents) {
          if (mask.documents[documentSlot] !== 1) continue;
          for (let slot = documents[documentSlot]?.firstChunk ?? -1; slot >= 0; slot = links.after(slot))
            offer(slot, similarities[slot] ?? 0);
        }
      }
      function offer(slot: number, similarity: number): void {
        const score = Math.fround(similarity);
        if (score > selection.minScore || (score === selection.minScore && tieOf(slot) <= selection.maxTie))
          selection.offer(slot, similarity, tieOf(slot));
      }
    },
  };
}

const NO_TERMS = new Uint8Array(0);
