import { z } from 'zod';
import { MODEL_KINDS } from '../../shared/models/in-use/models-in-use.js';
import { defineRoute, type Route } from '../http/route.js';
import type { LifecyclePhase } from '../lifecycle.js';
import type { Readiness } from '../services/health.js';
import type { ModelState, ModelStates } from '../services/models/model-states.js';

const health = z.object({ status: z.literal('ok') });
const modelView = z.object({
  kind: z.enum(MODEL_KINDS),
  model: z.string().nullable(),
  address: z.string().nullable().meta({ description: 'Without login and query.' }),
  dimensions: z.number().nullable().meta({ description: 'Length of the vectors, of an embedder alone.' }),
  state: z.enum(['unasked', 'probing', 'answers', 'failing']),
  problem: z.string().nullable().meta({ description: 'Why it fails, and which setting to change.' }),
});

const readinessView = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    components: z.record(z.string(), z.enum(['ready', 'loading', 'unavailable'])),
    disks: z
      .record(z.string(), z.object({ free_bytes: z.number(), least_bytes: z.number() }))
      .meta({ description: 'Free bytes on each disk of ours. Below `least_bytes` it takes nothing more.' }),
    models: z.object({ embedder: modelView, completer: modelView, reranker: modelView }).optional().meta({
      description:
        'The models in use, which do not count for `status`. Those on other hosts are probed when the process starts.',
    }),
  })
  .meta({
    id: 'Readiness',
    description: 'Tells whether the service can work, and which part keeps it from that.',
  });

const serving = z
  .object({ status: z.enum(['starting', 'serving', 'stopping']) })
  .meta({ id: 'Serving', description: 'The phase of the life of this process.' });
const COME_AGAIN = { 'Retry-After': '2' };

export interface HealthOptions {
  readonly readiness: () => Promise<Readiness>;
  /** The models in use; absent before they are known. */
  readonly models?: () => ModelStates;
  readonly phase: () => LifecyclePhase;
}

export function createHealthRoutes({ readiness, models, phase }: HealthOptions): Route[] {
  return [livenessRoute(), readinessRoute(readiness, models), servingRoute(phase)];
}

const common = { method: 'get', tag: 'Health', permission: 'open', request: {} } as const;

const livenessRoute = () =>
  defineRoute({
    ...common,
    path: '/health',
    audit: null,
    summary: 'Tell that the process lives',
    description: 'Asks nothing of Redis or the workers. A process that does not answer should be restarted.',
    responses: { 200: health },
    examples: healthExamples,
    handle: (_request, reply) => Promise.resolve(reply.json(200, { status: 'ok' })),
  });

const readinessRoute = (read: HealthOptions['readiness'], models: HealthOptions['models']) =>
  defineRoute({
    ...common,
    path: '/health/ready',
    audit: null,
    summary: 'Tell whether Redis, index, storage and workers are there',
    description: 'Answers 503 and names the missing parts while the service cannot do all of its work.',
    responses: { 200: readinessView, 503: readinessView },
    examples: readinessExamples,
    handle: async (_request, reply) => {
      const { ready, components, disks } = await read();
      const view = {
        components,
        disks: viewOf(disks),
        ...(models && { models: viewModels(models()) }),
      };
      return ready
        ? reply.json(200, { status: 'ready', ...view })
        : reply.json(503, { status: 'not_ready', ...view }, COME_AGAIN);
    },
  });

const viewModels = ({ embedder, completer, reranker }: ModelStates) => ({
  embedder: viewModel(embedder),
  completer: viewModel(completer),
  reranker: viewModel(reranker),
});

const viewModel = ({ kind, model, address, dimensions, state, problem }: ModelState) => ({
  kind,
  model,
  address,
  dimensions,
  state,
  problem,
});

/** Shows the disks. An unknown disk is left out. */
const viewOf = (disks: Readiness['disks']) =>
  Object.fromEntries(
    Object.entries(disks)
      .filter(([, { free }]) => Number.isFinite(free))
      .map(([disk, { free, least }]) => [disk, { free_bytes: free, least_bytes: least }]),
  );

/**
 * Redis and the workers do not count here: all processes share them, so that their absence would take every process out
 * of the balancer at once.
 */
const servingRoute = (phase: HealthOptions['phase']) =>
  defineRoute({
    ...common,
    path: '/health/serving',
    audit: null,
    summary: 'Tell load balancers whether to send requests to this process',
    description: 'Answers 503 while the process starts, and again from the moment it is told to stop.',
    responses: { 200: serving, 503: serving },
    examples: servingExamples,
    handle: (_request, reply) => {
      const status = phase();
      const isServing = status === 'serving';
      return Promise.resolve(reply.json(isServing ? 200 : 503, { status }, isServing ? {} : COME_AGAIN));
    },
  });

const healthExamples = { responses: { 200: { status: 'ok' } } } as const;

const readyComponents = {
  redis: 'ready',
  index: 'ready',
  storage: 'ready',
  'worker-ingestion': 'ready',
  'worker-embedding': 'ready',
  'worker-cache': 'ready',
  'worker-usage': 'ready',
  'worker-maintenance': 'ready',
} as const;

const ourDisks = { data: { free_bytes: 12_884_901_888, least_bytes: 599_785_472 } } as const;

const unusedModel = {
  model: null,
  address: null,
  dimensions: null,
  state: 'unasked',
  problem: null,
} as const;
const someModels = {
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
  reranker: { kind: 'none', ...unusedModel },
} as const;

const readinessExamples = {
  responses: {
    200: { status: 'ready', components: readyComponents, disks: ourDisks, models: someModels },
    503: {
      status: 'not_ready',
      components: { ...readyComponents, 'worker-ingestion': 'unavailable' },
      disks: ourDisks,
      models: someModels,
    },
  },
} as const;

const servingExamples = {
  responses: { 200: { status: 'serving' }, 503: { status: 'stopping' } },
} as const;
