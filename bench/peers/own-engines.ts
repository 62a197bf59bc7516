import type * as mirrors from '../../src/shared/adapters/exact-index/mirror/mirror.js';
import { tieKey } from '../../src/index/tables/document-table.js';
import { unpackCandidates } from '../../src/index/search/packed-candidates.js';
import { analyzeText } from '../../src/shared/text/list-terms.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import { toWordQuery } from '../../src/shared/search/ranking.js';
import { makeEntry } from '../../test/support/index-entry.js';
import { importCompiled } from '../support/import-compiled.js';
import { createRawScan } from '../support/raw-scan.js';
import { K, type MakeEngine } from './engines.js';

// @NOTE compiled, as the service runs it, and under its source's type: the kernel is not there otherwise
const { loadMirror } = (await importCompiled(
  'shared/adapters/exact-index/mirror/mirror.js',
)) as typeof mirrors;
const createMirror = await loadMirror();

const CALLER = 'load';
const CHUNKS_A_DOCUMENT = 20;
const NOTHING = new Uint8Array(0);
/** Every step is done at once. */
const always = () => true;

/** Chunks of one caller in the service's mirror, 20 to a document, without its thread and without Redis. */
function openMirror(held: 'of-terms' | 'stored') {
  const mirror = createMirror({ held, onDirty: () => undefined });
  let documents = 0;
  return {
    mirror,
    add: (chunks: readonly { readonly vector: Uint8Array; readonly terms: Uint8Array }[]) => {
      for (let first = 0; first < chunks.length; first += CHUNKS_A_DOCUMENT) {
        const entry = makeEntry(CALLER, { id: idOf(documents++), ownerId: CALLER });
        const loaded = { attempt: '.1', tie: tieKey(entry.id), slots: [] };
        for (const { vector, terms } of chunks.slice(first, first + CHUNKS_A_DOCUMENT))
          mirror.addTo(loaded, vector, terms);
        mirror.put(entry, loaded);
      }
      while (!mirror.compact(always));
    },
    hits: (found: Parameters<typeof unpackCandidates>[0]) =>
      unpackCandidates(found).map(({ documentId, number, score }) => ({
        place: Number(documentId.slice(0, 8)) * CHUNKS_A_DOCUMENT + number,
        score,
      })),
  };
}

const idOf = (number: number): string => `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`;

/** The inverted index of the API process, called as its thread calls it. */
export const makePostings: MakeEngine<string> = () => {
  const { mirror, add, hits } = openMirror('of-terms');
  return {
    add: (texts) => add(texts.map((text) => ({ vector: NOTHING, terms: packTerms(analyzeText(text)) }))),
    search: (query) =>
      hits(
        mirror.searchWords({
          principal: { id: CALLER },
          query: toWordQuery(query),
          minScore: 0,
          limit: K,
          enough: K,
          mask: null,
        }),
      ),
  };
};

/** The search by vectors of the API process, with vectors that are stored. */
export const makeMirror: MakeEngine<Float32Array> = () => {
  const { mirror, add, hits } = openMirror('stored');
  const terms = packTerms({ length: 0, counts: new Map() });
  return {
    add: (vectors) => add(vectors.map((vector) => ({ vector: bytesOf(vector), terms }))),
    search: async (vector) => {
      const readMask = await mirror.prepare({ principal: { id: CALLER }, filter: null }, always);
      const mask = readMask?.();
      if (!mask) throw new Error('the mirror made no mask');
      return hits(mirror.searchVectors({ principal: { id: CALLER }, vector, limit: K, mask }));
    },
  };
};

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** The yardstick: the inner products of a query with all vectors by SIMD, without telling which are the best. */
export const makeRawScan: MakeEngine<Float32Array> = ({ capacity, dimensions }) => {
  const scan = createRawScan(capacity, dimensions);
  let size = 0;
  return {
    add: (vectors) => {
      for (const vector of vectors) scan.vectors.set(vector, size++ * dimensions);
    },
    search: (vector) => [{ place: Number.NaN, score: scan.best(vector) }],
  };
};
