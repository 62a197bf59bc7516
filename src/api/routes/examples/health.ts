export const healthExamples = { responses: { 200: { status: 'ok' } } } as const;

const components = {
  redis: 'ready',
  index: 'ready',
  storage: 'ready',
  'worker-ingestion': 'ready',
  'worker-embedding': 'ready',
  'worker-cache': 'ready',
  'worker-usage': 'ready',
  'worker-maintenance': 'ready',
} as const;

const disks = { data: { free_bytes: 12_884_901_888, least_bytes: 599_785_472 } } as const;

const unused = { model: null, address: null, dimensions: null, state: 'unasked', problem: null } as const;
const models = {
  embedder: {
    kind: 'openai',
    model: 'text-embedding-3-small',
    address: 'https://api.openai.com/v1',
    dimensions: 1536,
    state: 'answers',
    problem: null,
  },
  completer: {
    kind: 'openai',
    model: 'qwen3',
    address: 'http://10.0.0.7:8080',
    dimensions: null,
    state: 'failing',
    problem: 'it answered 404: completion.base_url probably lacks /v1 (http://10.0.0.7:8080/v1)',
  },
  reranker: { kind: 'none', ...unused },
} as const;

export const readinessExamples = {
  responses: {
    200: { status: 'ready', components, disks, models },
    503: {
      status: 'not_ready',
      components: { ...components, 'worker-ingestion': 'unavailable' },
      disks,
      models,
    },
  },
} as const;

export const servingExamples = {
  responses: { 200: { status: 'serving' }, 503: { status: 'stopping' } },
} as const;
