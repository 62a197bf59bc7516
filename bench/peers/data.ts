import { analyzeQuery, listTerms } from '../../src/shared/text/list-terms.js';
import { documentVector, queryVector, TERM_VECTOR_DIMENSIONS } from '../../src/shared/text/term-vectors.js';
import { loadCollection } from '../support/collections.js';
import { createRandom } from '../support/random.js';
import { createTexts } from '../support/texts.js';

/** The items and queries for an engine. */
export interface EngineData<Item> {
  readonly items: readonly Item[];
  readonly queries: readonly Item[];
}

/** Dimensions of the vectors: those of small embedding models. */
const DIMENSIONS = 384;

/** Makes as many chunks as are asked for, and takes the queries of SciFact. */
export function makeTextData(count: number): EngineData<string> {
  const scifact = loadCollection('scifact');
  if (!scifact) throw new Error('there is no scifact');
  const makeText = createTexts([scifact]);
  return { items: Array.from({ length: count }, makeText), queries: scifact.queries.map(({ text }) => text) };
}

/**
 * Vectors of the same texts in which no dimension is 0, as those of models are: the builtin embedder's, projected at random
 * (Johnson and Lindenstrauss 1984), of norm 1.
 */
export function makeVectorData(count: number): EngineData<Float32Array> {
  const { items, queries } = makeTextData(count);
  const below = createRandom();
  const signs = Int8Array.from({ length: TERM_VECTOR_DIMENSIONS * DIMENSIONS }, () => 2 * below(2) - 1);
  return {
    items: items.map((text) => project(documentVector(listTerms(text)), signs)),
    queries: queries.map((text) => project(queryVector(analyzeQuery(text)), signs)),
  };
}

function project(vector: Float32Array, signs: Int8Array): Float32Array {
  const made = new Float32Array(DIMENSIONS);
  for (const [from, value] of vector.entries()) {
    if (value === 0) continue;
    for (let to = 0; to < DIMENSIONS; to += 1)
      made[to] = (made[to] ?? 0) + value * (signs[from * DIMENSIONS + to] ?? 0);
  }
  const norm = Math.hypot(...made);
  return norm === 0 ? made : made.map((value) => value / norm);
}
