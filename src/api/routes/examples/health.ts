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

export const readinessExamples = {
  responses: {
    200: { status: 'ready', components, disks },
    503: { status: 'not_ready', components: { ...components, 'worker-ingestion': 'unavailable' }, disks },
  },
} as const;

export const servingExamples = {
  responses: { 200: { status: 'serving' }, 503: { status: 'stopping' } },
} as const;
