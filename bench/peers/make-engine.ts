import type { MakeEngine, VectorEngineName, WordEngineName } from './engines.js';
import { makeHnswlib } from './hnswlib.js';
import { makeMiniSearch } from './minisearch.js';
import { makeOrama } from './orama.js';
import { makeMirror, makePostings, makeRawScan } from './own-engines.js';

export const MAKE_WORD_ENGINE: Readonly<Record<WordEngineName, MakeEngine<string>>> = {
  postings: makePostings,
  minisearch: makeMiniSearch,
  orama: makeOrama,
};

export const MAKE_VECTOR_ENGINE: Readonly<Record<VectorEngineName, MakeEngine<Float32Array>>> = {
  mirror: makeMirror,
  'raw-scan': makeRawScan,
  'hnswlib-brute-force': makeHnswlib(null),
  'hnswlib-100': makeHnswlib(100),
  'hnswlib-400': makeHnswlib(400),
};
