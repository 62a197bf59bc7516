/**
 * The search core of one process, and the only way into it: `loadIndex` gives what makes an index of documents, chunks, terms
 * and vectors in memory, which the app fills (`IndexWriter`) and asks (`Searcher`). It knows nothing of Redis, threads, users,
 * filters or languages: who may read, what a filter matches, how a query is analyzed and weighed are functions of the app
 * (`AppRules`, `WordQuery`, `TermEmbedding`, `Sort`).
 *
 * Words, with those of Lucene where it has another:
 * - A chunk is what is found (a document of Lucene), a document is what it belongs to. A slot is the number of either (doc ID),
 *   which is used again; a generation is the chunks that a document answers with.
 * - A partition holds the documents of one owner, and a shard with their postings. A segment is an immutable part of a shard;
 *   an ordinal is the number of a chunk in one. The memtable is the chunks that are in no segment yet: `flush` makes segments
 *   of full ones, `compact` of all of it, and merges segments.
 * - Live docs are the chunks of a segment that are not deleted. A mask is the documents that a caller may read and a filter
 *   matches (accept docs). An access class is documents with the same access.
 * - Bounds are the highest count and the smallest length of some postings (impacts), kept by windows (blocks).
 * - A collector takes chunks that may be among the best, and says what is competitive; `KnnCollector`: by vectors.
 * - A section is up to eight chunks in a row, which count as one text. A tie key is a number that orders ids.
 */
import type { MemoryIndex, MemoryIndexOptions } from './memory-index.js';
import type { AppTypes } from './tables/app.js';

export { createSlices } from './masks/slices.js';
export type { Slices } from './masks/slices.js';
export type { Mask } from './masks/working-mask.js';
export type { IndexWriter, Searcher } from './memory-index.js';
export { coveredShare, inverseDocumentFrequency, queryTermWeight } from './scoring/score.js';
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
  sharesByTerm,
  SECTION_CHUNKS,
  sectionOf,
} from './scoring/score.js';
export { noStatistics } from './scoring/terms.js';
export type { TermCounts, TermList, TermStatistics, TermWeights, WordQuery } from './scoring/terms.js';
export { unpackCandidates } from './search/packed-candidates.js';
export type { PackedCandidates } from './search/packed-candidates.js';
export type { TermEmbedding } from './search/term-vectors.js';
export type { AppRules, Sort } from './tables/app.js';
export type { DocumentEntry, LoadedChunks } from './tables/document-table.js';
export { tieKey } from './tables/document-table.js';

type CreateMemoryIndex = <App extends AppTypes>(
  options: Omit<MemoryIndexOptions<App>, 'kernels'>,
) => MemoryIndex<App>;

/**
 * Loads the function that makes an index, and its compiled kernels: most processes only score or pack terms, and do
 * without.
 */
export async function loadIndex(): Promise<CreateMemoryIndex> {
  const { createMemoryIndex, loadKernels } = await import('./memory-index.js');
  const kernels = await loadKernels();
  return (options) => createMemoryIndex({ ...options, kernels });
}
