import type { LocalModel } from '../quality/local-model.js';
import type { Collection } from '../support/collections.js';
import { createCachedEmbedding, type Vectors } from './embed-cached.js';
import { findPassages } from './find-passages.js';

/** The number of queries of each kind; fewer questions where the collections have fewer. */
const QUERIES = 250;

export interface RealVectors {
  readonly passages: Vectors;
  readonly queries: readonly Float32Array[];
  /** Distinct sentences that the collections have. */
  readonly sentences: number;
}

/** Vectors of sentences of the collections, and as queries those of other sentences and of the collections' questions. */
export async function makeRealVectors(
  model: LocalModel,
  collections: readonly Collection[],
  count: number,
): Promise<RealVectors> {
  const texts = findPassages(collections, { passages: count, heldOut: QUERIES, questions: QUERIES });
  const cache = createCachedEmbedding(model);
  try {
    const asked = [await cache.embed(texts.heldOut, 'query'), await cache.embed(texts.questions, 'query')];
    const passages = await cache.embed(texts.passages, 'document');
    const queries = asked.flatMap(({ count: all, at }) => Array.from({ length: all }, (_, row) => at(row)));
    return { passages, queries, sentences: texts.found };
  } finally {
    await cache.stop();
  }
}
