import { documentNotFound, HANDOVER_ID, handoverText } from './story.js';

const path = { name: 'mill-lane' };
const cacheNotFound = { detail: "Cache 'mill-lane' not found" };
const noDocuments = { detail: 'No documents to add to cache' };
const tooLong = { detail: 'The selected documents take at least 9120 tokens, the model reads 8192' };
const unfinished = { detail: `Document ${HANDOVER_ID} is processing, not completed` };

const cache = {
  name: 'mill-lane',
  model: 'none',
  gguf_file: 'none',
  engine: 'prompt' as const,
  filters: { kind: 'lease' },
  shared: 'all' as const,
  doc_count: 1,
  token_count: 141,
  state_bytes: 0,
  status: 'ready' as const,
};
const building = { ...cache, token_count: 0, status: 'building' as const };

export const createCacheExamples = {
  idempotencyKey: 'cache-of-the-office',
  plain: { name: 'mill-lane', model: 'none', gguf_file: 'none', filters: {} },
  body: { name: 'mill-lane', model: 'none', gguf_file: 'none', filters: { kind: 'lease' } },
  responses: {
    200: { ...cache, success: true },
    202: { ...building, success: true },
    400: noDocuments,
    404: documentNotFound,
    409: unfinished,
  },
};

export const findCacheExamples = { path, responses: { 200: { exists: true, ...cache } } };

export const listCachesExamples = { responses: { 200: [cache] } };

const changeResponses = {
  200: { success: true, status: 'ready' },
  202: { success: true, status: 'building' },
  400: tooLong,
  404: cacheNotFound,
  409: unfinished,
};

export const updateCacheExamples = { idempotencyKey: 'office-up-to-date', path, responses: changeResponses };

export const addDocumentsExamples = {
  idempotencyKey: 'handover-into-office',
  path,
  body: { docs: [HANDOVER_ID] },
  responses: changeResponses,
};

const keysQuote = 'Four keys were handed over.';
const keysStart = handoverText.indexOf(keysQuote);
const keysEnd = keysStart + keysQuote.length;

const outcome = {
  finish_reason: 'stop' as const,
  usage: { completion_tokens: 48, prompt_tokens: 142, total_tokens: 190 },
  tokens_reused: 0,
  sources: [
    {
      document_id: HANDOVER_ID,
      owner: 'alice',
      chunk_number: 0,
      score: 1,
      location: { lines: { first: 1, last: 1 } },
      section: [],
      filename: 'handover.txt',
      title: null,
      text: handoverText,
      quotes: [{ text: keysQuote, start: keysStart, end: keysEnd, line: 1 }],
      url: `http://127.0.0.1:8000/view/${HANDOVER_ID}?chunk=0&quote=${String(keysStart)}-${String(keysEnd)}`,
      page_url: null,
    },
  ],
  unsupported: [],
};

export const queryCacheExamples = {
  path,
  plain: { query: 'How many keys were handed over?' },
  body: { query: 'How many keys were handed over?', max_tokens: 100, temperature: 0 },
  responses: {
    200: {
      completion:
        'Extracted from the documents (no language model is configured):\n\n' +
        `Four keys were handed over. [2]\n\n[2] document ${HANDOVER_ID}, chunk 0`,
      tokens_used: 190,
      ...outcome,
    },
    404: cacheNotFound,
    409: { detail: "Cache 'mill-lane' is being built" },
  },
  events: [
    { type: 'token' as const, text: '\nFour keys were handed over. [2]' },
    { type: 'end' as const, ...outcome },
  ],
};

export const deleteCacheExamples = { path, responses: { 200: { success: true } } };
