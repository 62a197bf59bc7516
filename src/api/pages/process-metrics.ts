import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { AuditLog } from '../../shared/audit/audit-log.js';
import type { RerankOutcome } from '../../shared/models/reranking.js';
import type {
  OpenMetricsFamily,
  MetricsSource,
  Exemplar,
  Labels,
} from '../../shared/observability/prometheus.js';
import { DURATION_BUCKETS, bucketOf } from '../../shared/observability/worker-metrics.js';
import { traceIds } from '../../shared/tracing/tracing.js';
import type { WriteBehind } from '../../shared/usage/write-behind.js';
import type { ConnectionRoom, Shortage } from '../http/connections/limit-connections.js';
import { requestFacts } from '../http/logging/access-log.js';
import type { AnswerMemory } from '../services/answer-memory/answer-memory.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export interface ProcessMetrics extends MetricsSource {
  /** Measures the duration of each request. It must come before all other handlers. */
  readonly measure: RequestHandler;
  /** Counts a client that was cut off because it read its answer too slowly. */
  readonly countCutOff: () => void;
  /** Counts the outcome of a reranking and its duration, which is null where it was not tried. */
  readonly countRerank: (outcome: RerankOutcome, seconds: number | null) => void;
  /** Counts a request that was refused because there was no room for its connection. */
  readonly countRefused: (shortage: Shortage) => void;
  readonly showConnections: (room: Pick<ConnectionRoom, 'open'>) => void;
  readonly showAnswerMemory: (memory: Pick<AnswerMemory, 'figures'>) => void;
  readonly showUsageOfReads: (usage: Pick<WriteBehind, 'waiting'>) => void;
  readonly showAudit: (log: Pick<AuditLog, 'figures' | 'isFailing'>) => void;
}

/** The metrics of this API process itself: its requests, its memory and its event loop. */
export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const exemplars = createExemplars();
  const measure = createMeasure(registry, exemplars);
  const refused = new Counter({
    name: 'quire_http_connections_refused_total',
    help: 'Requests that were refused because their address, or all, had too many connections.',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  return {
    measure,
    countRefused: (reason) => {
      refused.inc({ reason });
    },
    showConnections: (room) => {
      showConnections(registry, room);
    },
    showAnswerMemory: (memory) => {
      showAnswerMemory(registry, memory);
    },
    showUsageOfReads: (usage) => {
      showUsageOfReads(registry, usage);
    },
    showAudit: (log) => {
      showAudit(registry, log);
    },
    countRerank: createCountRerank(registry),
    countCutOff: createCountCutOff(registry),
    text: () => registry.metrics(),
    families: async () =>
      (await registry.getMetricsAsJSON()).map((family) => withExemplars(family, exemplars)),
  };
}

type Exemplars = ReturnType<typeof createExemplars>;

interface Family extends Omit<OpenMetricsFamily, 'type'> {
  readonly type: unknown;
}

/** Adds to the durations of requests in which traces they were. @NOTE prom-client's type of a metric is a text, not a number */
const withExemplars = ({ type, ...family }: Family, exemplars: Exemplars): OpenMetricsFamily => ({
  ...family,
  type: String(type),
  values:
    family.name === DURATIONS
      ? family.values.map((each) => ({ ...each, exemplar: exemplars.of(each.labels) }))
      : family.values,
});

const DURATIONS = 'quire_http_request_duration_seconds';

function createMeasure(registry: Registry, exemplars: Exemplars): RequestHandler {
  const durations = new Histogram({
    name: DURATIONS,
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [...DURATION_BUCKETS],
    registers: [registry],
  });
  return (request, response, next) => {
    const startedAt = performance.now();
    const { method } = request;
    // The end of a request is told outside of its trace.
    const trace = traceIds();
    response.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1_000;
      const labels = {
        method: METHODS.has(method) ? method : 'other',
        // The path itself must not be a label: clients choose it, so that its values are not bounded.
        route: requestFacts(request).route ?? 'none',
        status: response.headersSent ? `${String(Math.floor(response.statusCode / 100))}xx` : 'aborted',
      };
      durations.observe(labels, seconds);
      exemplars.note(labels, seconds, trace);
    });
    next();
  };
}

function createCountCutOff(registry: Registry): ProcessMetrics['countCutOff'] {
  const cutOff = new Counter({
    name: 'quire_http_clients_cut_off_total',
    help: 'Clients that took too little of their answers.',
    registers: [registry],
  });
  return () => {
    cutOff.inc();
  };
}

function createCountRerank(registry: Registry): ProcessMetrics['countRerank'] {
  const outcomes = new Counter({
    name: 'quire_reranks_total',
    help: 'Searches that were to be reranked, by what became of it.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'quire_rerank_duration_seconds',
    help: 'Time that reranking took, waits for a turn included, whatever became of it.',
    buckets: [...DURATION_BUCKETS],
    registers: [registry],
  });
  return (outcome, seconds) => {
    outcomes.inc({ outcome });
    if (seconds !== null) durations.observe(seconds);
  };
}

function showConnections(registry: Registry, room: Pick<ConnectionRoom, 'open'>): void {
  new Gauge({
    name: 'quire_http_connections',
    help: 'Connections of clients that are open.',
    registers: [registry],
    collect() {
      this.set(room.open());
    },
  });
}

function showAnswerMemory(registry: Registry, memory: Pick<AnswerMemory, 'figures'>): void {
  const show = (name: string, help: string, figure: 'held' | 'waiting') =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(memory.figures()[figure]);
      },
    });
  const held = 'Estimated memory of answers that clients have not taken yet.';
  show('quire_answer_memory_bytes', held, 'held');
  show('quire_answers_waiting', 'Answers that wait for such memory.', 'waiting');
}

function showUsageOfReads(registry: Registry, usage: Pick<WriteBehind, 'waiting'>): void {
  new Gauge({
    name: 'quire_usage_events_waiting',
    help: 'Usage events of searches and questions that this process has not stored yet.',
    registers: [registry],
    collect() {
      this.set(usage.waiting());
    },
  });
}

function showAudit(registry: Registry, log: Pick<AuditLog, 'figures' | 'isFailing'>): void {
  new Counter({
    name: 'quire_audit_lines_total',
    help: 'Lines of the audit log of this process, written or lost for want of room.',
    labelNames: ['outcome'] as const,
    registers: [registry],
    collect() {
      this.reset();
      const { written, lost } = log.figures();
      this.inc({ outcome: 'written' }, written);
      this.inc({ outcome: 'lost' }, lost);
    },
  });
  new Gauge({
    name: 'quire_audit_failing',
    help: '1 while the audit log of this process cannot be written, else 0.',
    registers: [registry],
    collect() {
      this.set(log.isFailing() ? 1 : 0);
    },
  });
}

/** The newest exemplar of each bucket of a histogram, whose labels come from fixed sets. */
function createExemplars() {
  const newest = new Map<string, Exemplar>();
  return {
    note: (labels: Labels, seconds: number, trace: Exemplar['labels'] | null): void => {
      if (trace)
        newest.set(keyOf({ ...labels, le: bucketOf(seconds) }), {
          labels: trace,
          value: seconds,
          atMs: Date.now(),
        });
    },
    /** By the labels of a bucket, `le` among them. */
    of: (labels: Labels): Exemplar | null => newest.get(keyOf(labels)) ?? null,
  };
}

const keyOf = (labels: Labels): string =>
  JSON.stringify(
    Object.entries(labels)
      .map(([name, value]) => [name, String(value)])
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
