import { z } from 'zod';
import { choice, httpUrl, modelName, orEmpty, text, whole } from '../setting-kinds.js';

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
    httpUrl,
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
