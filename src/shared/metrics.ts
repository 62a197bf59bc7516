import { randomUUID } from 'node:crypto';
import type { MetricFamily, MetricSample } from './exposition.js';
import { keys } from './keys.js';
import { defineScript, type Redis } from './redis.js';

const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120] as const;

/** What workers measure. Label values come from fixed sets: names of queues, jobs, outcomes, failure codes. */
const definitions = {
  quire_jobs_total: {
    type: 'counter',
    help: 'Runs of jobs by what became of them.',
    labels: ['queue', 'job', 'outcome'],
  },
  quire_job_duration_seconds: {
    type: 'histogram',
    help: 'Time that runs of jobs took.',
    labels: ['queue', 'job', 'outcome'],
  },
  quire_ingested_documents_total: {
    type: 'counter',
    help: 'Document versions published.',
    labels: [],
  },
  quire_ingested_bytes_total: {
    type: 'counter',
    help: 'Source bytes of the document versions published.',
    labels: [],
  },
  quire_embedded_chunks_total: {
    type: 'counter',
    help: 'Chunks that the embedder made vectors of.',
    labels: [],
  },
  quire_embedded_tokens_total: {
    type: 'counter',
    help: 'Tokens of those chunks, as billed where the provider says so.',
    labels: [],
  },
  quire_document_failures_total: {
    type: 'counter',
    help: 'Document versions that failed, by code.',
    labels: ['code'],
  },
  quire_queue_holds_total: {
    type: 'counter',
    help: 'Times that a worker took no jobs of a queue any more because Redis was nearly full.',
    labels: ['queue'],
  },
  quire_members_failed_total: {
    type: 'counter',
    help: 'Members of a set that failed in a run over it, and are tried again in the next.',
    labels: ['set'],
  },
} as const;

type Definitions = typeof definitions;
type NameOf<Type> = {
  [Name in keyof Definitions]: Definitions[Name]['type'] extends Type ? Name : never;
}[keyof Definitions];
type Labels<Name extends keyof Definitions> = Readonly<Record<Definitions[Name]['labels'][number], string>>;

/** Takes note of what happened; cheap, and never fails. */
export interface Metrics {
  add<Name extends NameOf<'counter'>>(name: Name, labels: Labels<Name>, by?: number): void;
  observe<Name extends NameOf<'histogram'>>(name: Name, labels: Labels<Name>, seconds: number): void;
}

export interface MetricsBuffer extends Metrics {
  /** Adds what was noted to the sums in Redis. What could not be sent stays, for the next time. */
  flush(): Promise<void>;
  /** Flushes a last time. */
  close(): Promise<void>;
}

interface Batch {
  readonly number: number;
  readonly values: ReadonlyMap<string, number>;
}

/** Sums over all workers and restarts, which the API shows: workers have no HTTP of their own. */
export function createMetricsBuffer(
  redis: Redis,
  { everyMilliseconds = 1_000, onError }: { everyMilliseconds?: number; onError: (error: unknown) => void },
): MetricsBuffer {
  const batchKey = keys.metricsBatch(randomUUID());
  let noted = new Map<string, number>();
  let sending: Batch | null = null;
  let batches = 0;
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;

  const note = (field: string, by: number) => {
    if (Number.isFinite(by)) noted.set(field, (noted.get(field) ?? 0) + by);
  };

  const nextBatch = (): Batch | null => {
    if (noted.size === 0) return null;
    const values = noted;
    noted = new Map();
    return { number: (batches += 1), values };
  };

  const flush = async () => {
    for (sending ??= nextBatch(); sending; sending = nextBatch()) {
      const { number, values } = sending;
      // A batch whose answer was lost is sent again as it was: the script knows it by its number.
      await addScript.run(redis, {
        keys: [keys.metrics, batchKey],
        arguments: [String(number), ...[...values].flatMap(([field, by]) => [field, String(by)])],
      });
    }
  };
  /** One at a time: a Redis that is away keeps one waiting. */
  const flushUnlessRunning = () => {
    if (isRunning) return running;
    isRunning = true;
    running = flush().finally(() => {
      isRunning = false;
    });
    return running;
  };
  const timer = setInterval(() => {
    if (!isRunning) flushUnlessRunning().catch(onError);
  }, everyMilliseconds);
  timer.unref();

  return {
    add: (name, labels, by = 1) => {
      note(fieldOf(name, labels), by);
    },
    observe: (name, labels, seconds) => {
      note(fieldOf(name, labels, 'sum'), seconds);
      note(fieldOf(name, labels, bucketOf(seconds)), 1);
    },
    flush: flushUnlessRunning,
    close: async () => {
      clearInterval(timer);
      // The one under way has reported its own failure.
      await running.catch(() => undefined);
      await flushUnlessRunning().catch(onError);
    },
  };
}

const bucketOf = (seconds: number) => String(DURATION_BUCKETS.find((bound) => seconds <= bound) ?? '+Inf');

/** `name|label values…|part`, which `readStoredMetrics` takes apart again. */
function fieldOf(name: keyof Definitions, labels: Readonly<Record<string, string>>, part = ''): string {
  const values = definitions[name].labels.map((label) => (labels[label] ?? '').replace(/[^\w.-]/g, '_'));
  return [name, ...values, part].join('|');
}

/** Sums that workers have sent. Those that this version does not know are left out. */
export async function readStoredMetrics(redis: Redis): Promise<MetricFamily[]> {
  const stored = Object.entries(await redis.hGetAll(keys.metrics)).map(([field, value]) => ({
    parts: field.split('|'),
    value: Number(value),
  }));
  return Object.entries(definitions).map(([name, { type, help, labels }]) => {
    const own = stored.filter(({ parts }) => parts[0] === name && parts.length === labels.length + 2);
    const values = own.map(({ parts, value }) => ({
      labels: Object.fromEntries(labels.map((label, i) => [label, parts[i + 1] ?? ''])),
      part: parts[labels.length + 1] ?? '',
      value,
    }));
    return { name, type, help, samples: type === 'counter' ? values.map(toSample) : histogram(values) };
  });
}

interface StoredValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly part: string;
  readonly value: number;
}

const toSample = ({ labels, value }: StoredValue): MetricSample => ({ labels, value });

/** Buckets are stored by what fell into each, and shown by what fell into each and those below. */
function histogram(values: readonly StoredValue[]): MetricSample[] {
  const series = new Map<string, StoredValue[]>();
  for (const value of values) {
    const name = JSON.stringify(value.labels);
    series.set(name, [...(series.get(name) ?? []), value]);
  }
  return [...series.values()].flatMap((parts) => {
    const labels = parts[0]?.labels ?? {};
    const valueOf = (part: string) => parts.find((each) => each.part === part)?.value ?? 0;
    let count = 0;
    const buckets = [...DURATION_BUCKETS.map(String), '+Inf'].map((le) => {
      count += valueOf(le);
      return { suffix: '_bucket', labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { suffix: '_sum', labels, value: valueOf('sum') },
      { suffix: '_count', labels, value: count },
    ];
  });
}

const addScript = defineScript<number>(`
if redis.call('GET', KEYS[2]) == ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'EX', 86400)
for i = 2, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
`);
