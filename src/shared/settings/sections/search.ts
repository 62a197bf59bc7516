import { z } from 'zod';
import { choice, shareOrAuto, whole, modelName, orEmpty, providerUrl, text } from '../setting-kinds.js';

export const search = z.strictObject({
  timeoutSeconds: whole(10, { min: 1, max: 300 }, 'Longest time for the index to answer.'),
  ranking: choice(
    ['auto', 'semantic', 'lexical', 'hybrid'],
    'auto',
    'Ranking of chunks unless a request says: vectors, words or both; `auto`: `lexical` with the builtin embedder, else `semantic`.',
  ),
  words: choice(
    ['auto', 'postings', 'engine'],
    'auto',
    'Index that finds words beside the Query Engine: `postings` in each API process, or the full-text index of the `engine`; `auto`: `postings`, as always without it.',
  ),
  shared: choice(
    ['all', 'accepted', 'own'],
    'all',
    'Documents of others that searches, answers, lists and new caches take unless a request says: `all` that name the caller, those that are `accepted`, or none (`own`).',
  ),
  hybridWeight: shareOrAuto(
    'Share of the vectors in a `hybrid` score; the rest is the share of the words; `auto`: the fewer different terms a query has, the more (half at eight), and less where the nearest hold few of its words.',
  ),
});

/** Settings that apply with `index = "query-engine"`. */
export const queryEngine = z.strictObject({
  algorithm: choice(
    ['flat', 'hnsw'],
    'flat',
    '`flat` compares with every vector that access and filter let through; `hnsw` walks a graph of near ones (for vectors of a model, above 50,000 chunks).',
  ),
  hnswM: whole(
    16,
    { min: 2, max: 512 },
    'Neighbours of a vector in the graph: more of them improve recall and take memory.',
  ),
  hnswEfConstruction: whole(
    200,
    { min: 4, max: 4096 },
    'Vectors in view when one is put into the graph: more of them improve recall and slow down writing.',
  ),
  hnswEfRuntime: whole(
    400,
    { min: 1, max: 4096 },
    'Vectors in view of a search: more of them improve recall and take longer. They are at least as many as it asks for, and more where access and filter let fewer through.',
  ),
});

export const cohereUrl = 'https://api.cohere.com/v2';

/** Settings that apply with a `reranker`. */
export const reranking = z.strictObject({
  model: text(
    '',
    orEmpty(modelName),
    'Model of the reranker, for `local` the name of its file; empty: rerank-v3.5 of Cohere.',
  ),
  baseUrl: text(
    cohereUrl,
    providerUrl,
    'Address of the provider, to which `/rerank` is added; any compatible one.',
  ),
  protocol: choice(
    ['documents', 'texts'],
    'documents',
    'Field of a request that holds the texts: `documents` (Cohere, Jina, vLLM, llama-server) or `texts` (text-embeddings-inference).',
  ),
  scores: choice(
    ['probability', 'logit'],
    'probability',
    'Form of the answers of the provider: scores from 0 to 1, or `logit` for numbers that a sigmoid brings there (llama-server).',
  ),
  candidates: whole(
    50,
    { min: 1, max: 1000 },
    'Number of the best hits of a search that are reranked; as many as are asked for, where that is more.',
  ),
  deadlineMilliseconds: whole(
    2000,
    { min: 50, max: 60_000 },
    'Longest time for reranking; after it, the answer comes in the order of the search.',
  ),
  maxDocuments: whole(100, { min: 1, max: 1000 }, 'Maximum number of texts in a request to the provider.'),
  maxTextTokens: whole(
    0,
    { min: 0, max: 1_000_000 },
    'Longer texts and queries are cut to so many tokens, for providers that refuse them; 0: they are sent whole.',
  ),
});
