/**
 * The search core of one process, and the only way into it: `loadIndex` gives what makes an index of documents, chunks, terms
 * and vectors in memory, which the app fills (`IndexWriter`) and asks (`Searcher`). It knows nothing of Redis, threads, users,
 * filters or languages: who may read, what a filter matches, how a query is analyzed and weighed are functions of the app
 * (`AppRules`, `WordQuery`, `TermEmbedding`, `Sort`).
 */
export { loadIndex } from './load-index.js';
export { createSlices } from './masks/slices.js';
export type { Slices } from './masks/slices.js';
export type { Mask } from './masks/working-mask.js';
export type { IndexWriter, MemoryIndex, Searcher } from './memory-index.js';
export { coveredShare, inverseDocumentFrequency, queryTermWeight } from './scoring/bm25.js';
export {
  isPacked,
  packedLength,
  packedSize,
  packedTerms,
  packList,
  readTerms,
} from './scoring/packed-terms.js';
export {
  createSectionShare,
  FURTHER_LOOK,
  leastOwnShare,
  scoreWithSection,
  SECTION_CHUNKS,
  sectionOf,
} from './scoring/section-score.js';
export { noStatistics } from './scoring/terms.js';
export type { TermCounts, TermList, TermStatistics, TermWeights, WordQuery } from './scoring/terms.js';
export { unpackCandidates } from './search/packed-candidates.js';
export type { PackedCandidates } from './search/packed-candidates.js';
export type { TermEmbedding } from './search/term-vectors.js';
export type { AppRules, Sort } from './tables/app.js';
export type { DocumentEntry, LoadedChunks } from './tables/document.js';
export { tieKey } from './tables/tie-key.js';
