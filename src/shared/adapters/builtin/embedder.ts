import type { Embedder } from '../../ports.js';
import { analyzeQuery, listTerms } from '../../text/list-terms.js';
import { documentVector, queryVector, TERM_VECTOR_DIMENSIONS } from '../../text/term-vectors.js';

/** Makes vectors of hashed terms, offline and without a model; see `term-vectors.ts`. */
export function createBuiltinEmbedder(): Embedder {
  return {
    model: 'builtin-2',
    limits: { inputs: 256, tokens: 300_000 },
    dimensions: () => Promise.resolve(TERM_VECTOR_DIMENSIONS),
    embedDocuments: (texts) =>
      Promise.resolve({ vectors: texts.map((text) => documentVector(listTerms(text))), tokens: null }),
    embedQuery: (text) => Promise.resolve({ vectors: [queryVector(analyzeQuery(text))], tokens: null }),
  };
}
