/** Settings of the services that files share. Fewer kinds of them are fewer services to start. */

/** The settings of most tests; each of the settings is read by some of them, and none minds. */
export const EVERYDAY = {
  // Not the default, so that tests see that it is read.
  QUIRE_SEARCH_HYBRID_WEIGHT: '0.25',
  // Small enough for documents that do not fit.
  QUIRE_COMPLETION_CONTEXT_WINDOW: '2048',
} as const;

/** Outside dev mode, with all secrets that there may be, and a queue board that may be written to. */
export const GUARDED = {
  QUIRE_DEV_MODE: 'false',
  QUIRE_ADMIN_QUEUES_READ_ONLY: 'false',
  JWT_SECRET_KEY_PREVIOUS: 'the secret of the days before, quite as long',
  LOCAL_URI_PASSWORD: 'open sesame, and close again',
  QUIRE_METRICS_TOKEN: 'a-token-for-scraping-only',
} as const;

/** Small limits, for requests and documents that exceed them; and another ranking than usual. */
export const LIMITED = {
  QUIRE_API_REQUEST_TIMEOUT_SECONDS: '3',
  // Networks are asked for each address that a proxy names.
  QUIRE_API_TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8',
  QUIRE_INGEST_PARSE_SECONDS: '8',
  QUIRE_INGEST_PARSE_MEMORY_MEGABYTES: '1536',
  // Workers give up on the largest texts soon.
  QUIRE_INGEST_MAX_CHUNKS: '300',
  QUIRE_SEARCH_HYBRID_WEIGHT: '0.25',
  QUIRE_SEARCH_RANKING: 'hybrid',
} as const;

/** With a provider of completions, which the tests play (`use-fake-openai.ts`). */
export const COMPLETING = {
  env: {
    QUIRE_COMPLETER: 'openai',
    QUIRE_COMPLETION_CONTEXT_WINDOW: '2048',
    QUIRE_COMPLETION_MAX_TOKENS: '100',
    QUIRE_COMPLETION_TIMEOUT_SECONDS: '3',
    QUIRE_API_STALLED_SECONDS: '6',
    QUIRE_CHUNK_SIZE: '128',
  },
  providedBy: 'QUIRE_COMPLETION_BASE_URL',
} as const;

/** With a provider of embeddings. */
export const EMBEDDING = {
  env: {
    QUIRE_EMBEDDER: 'openai',
    QUIRE_EMBEDDING_TIMEOUT_SECONDS: '20',
    QUIRE_SEARCH_HYBRID_WEIGHT: '0.25',
  },
  providedBy: 'QUIRE_EMBEDDING_BASE_URL',
} as const;

/** With a provider of scores for reranking. */
export const RERANKING = {
  env: {
    QUIRE_RERANKER: 'http',
    RERANKER_API_KEY: 'key of the reranker',
    QUIRE_RERANKING_CANDIDATES: '8',
    QUIRE_RERANKING_MAX_DOCUMENTS: '5',
    QUIRE_RERANKING_DEADLINE_MILLISECONDS: '1500',
  },
  providedBy: 'QUIRE_RERANKING_BASE_URL',
} as const;
