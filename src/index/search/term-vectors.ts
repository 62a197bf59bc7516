import { packedLength, readTerms } from '../scoring/packed-terms.js';
import type { AppTypes } from '../tables/app.js';
import type { IndexedDocument } from '../tables/document-table.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { Partition, Partitions } from '../tables/partitions.js';
import type { ChunkVectors } from './chunk-vectors.js';
import { fewSlots, type Mask } from '../masks/working-mask.js';
import type { KnnCollector } from '../vectors/knn-collector.js';

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links' | 'terms' | 'tieOf' | 'divisors'>;
  /** By document slot. */
  readonly documents: readonly (Pick<IndexedDocument, 'firstChunk'> | undefined)[];
  readonly partitions: Pick<Partitions<AppTypes>, 'readableBy'>;
}

/** An embedding of texts that is made of their terms alone, so that nobody has to hold vectors where terms are held. */
export interface TermEmbedding {
  /** Returns the number that a term adds to the inner product of a vector and a text, for each unit that its count weighs. */
  readonly termProduct: (vector: Float32Array, term: number) => number;
  /** Returns the weight of a term's count in a text of a length. */
  readonly weigh: (count: number, length: number) => number;
  /** Returns the number that the sum of all terms is divided by, from packed term counts. */
  readonly divisorOf: (packed: Uint8Array) => number;
}

/** Vectors that are made of the terms of chunks when they are asked for instead of being held. */
export function createTermVectors(tables: Tables, embedding: TermEmbedding): ChunkVectors {
  const similarityTo = (vector: Float32Array) => (slot: number) => {
    const packed = tables.chunks.terms.read(slot);
    return packed ? productWith(embedding, vector, packed) / divisorAt(tables.chunks, embedding, slot) : 0;
  };
  /** By slot, all 0; null while it is in use, so that a search that fails leaves nothing behind. */
  let scratch: Float64Array | null = null;
  return {
    prepare: createPrepareDivisors(tables, embedding),
    similarityTo,
    collectNearest: (vector, mask, collector, principal) => {
      const readable = tables.partitions.readableBy(principal).map(({ partition }) => partition);
      const available = readable.reduce((sum, { shard }) => sum + shard.chunks, 0);
      const few = fewSlots(tables, mask, available);
      if (few) {
        collectEach(tables, few, { similarity: similarityTo(vector), collector });
        return;
      }
      const similarities = withRoom(scratch, tables.chunks.links.size);
      scratch = null;
      for (const partition of readable) {
        writeSimilarities(tables, embedding, { vector, partition, mask, similarities });
        collectAll(tables, { partition, mask, similarities, collector });
      }
      scratch = similarities;
    },
  };
}

/** Chunks that are looked at between two looks at the clock. */
const CHUNKS_AT_ONCE = 64;

/** Computes the divisors of all chunks. Those of later ones are computed by the search that first needs them. */
function createPrepareDivisors({ chunks }: Tables, embedding: TermEmbedding): ChunkVectors['prepare'] {
  let prepared = 0;
  return (isTimeLeft) => {
    const { links } = chunks;
    // There are fewer only after everything was cleared.
    if (prepared > links.size) prepared = 0;
    for (; prepared < links.size; prepared += 1) {
      if (prepared % CHUNKS_AT_ONCE === 0 && !isTimeLeft()) return false;
      if (links.documentOf(prepared) >= 0) divisorAt(chunks, embedding, prepared);
    }
    return true;
  };
}

/** Memory that is used again, since it is as large as the data of all callers. */
function withRoom(scratch: Float64Array | null, size: number): Float64Array {
  return scratch && scratch.length >= size ? scratch : new Float64Array(Math.ceil(size * 1.5));
}

function collectEach(
  { chunks: { tieOf } }: Tables,
  slots: readonly number[],
  {
    similarity,
    collector,
  }: { readonly similarity: (slot: number) => number; readonly collector: KnnCollector },
): void {
  for (const slot of slots) collector.collect(slot, similarity(slot), tieOf(slot));
}

function productWith(
  { termProduct, weigh }: TermEmbedding,
  vector: Float32Array,
  packed: Uint8Array,
): number {
  const length = packedLength(packed);
  let sum = 0;
  readTerms(packed, (term, count) => {
    sum += termProduct(vector, term) * weigh(count, length);
  });
  return sum;
}

/** Computed once for each chunk, since it takes some microseconds. */
function divisorAt(
  { divisors, terms }: Tables['chunks'],
  { divisorOf }: TermEmbedding,
  slot: number,
): number {
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
  embedding: TermEmbedding,
  { vector, partition, mask, similarities }: Within & { readonly vector: Float32Array },
): void {
  const { termProduct, weigh } = embedding;
  const products = { of: (term: number) => termProduct(vector, term), weigh };
  partition.shard.addUp(products, (slot, sum) => {
    if (mask.documents[chunks.links.documentOf(slot)] === 1)
      similarities[slot] = sum / divisorAt(chunks, embedding, slot);
  });
}

/**
 * Collects all chunks of the mask, because chunks that hold no term of the query are nearer than chunks that point away
 * from it. Sets their similarities to 0 again.
 */
function collectAll(
  { chunks: { links, tieOf }, documents }: Tables,
  { partition, mask, similarities, collector }: Within & { readonly collector: KnnCollector },
): void {
  for (const documentSlot of partition.documents) {
    if (mask.documents[documentSlot] !== 1) continue;
    for (let slot = documents[documentSlot]?.firstChunk ?? -1; slot >= 0; slot = links.after(slot)) {
      const similarity = similarities[slot];
      similarities[slot] = 0;
      // The comparison has the precision of the collector.
      const score = Math.fround(similarity);
      if (score < collector.minScore || (score === collector.minScore && tieOf(slot) > collector.maxTie))
        continue;
      collector.collect(slot, similarity, tieOf(slot));
    }
  }
}
