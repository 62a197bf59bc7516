import { at, addTo, sumOf } from '../at.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { BATCHES, createNumberedBatches } from '../redis/numbered-batches.js';
import { declareScript } from '../redis/script.js';
import type { MetricFamily, MetricSample } from './prometheus.js';

/** In seconds. An ingest that waits for its document takes up to two minutes. */
export const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
] as const;

/** The metrics of workers. Label values come from fixed sets: names of queues, jobs, outcomes and failure codes. */
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
  quire_extraction_gaps_total: {
    type: 'counter',
    help: 'Parts of files that were not read, by reason.',
    labels: ['reason'],
  },
  quire_page_render_duration_seconds: {
    type: 'histogram',
    help: 'Time that rendering pages took, by what became of it.',
    labels: ['outcome'],
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
  quire_ingests_taken_back_total: {
    type: 'counter',
    help: 'Ingests that lost what they had written and wait for room, because Redis was nearly full.',
    labels: [],
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

/** Notes events of workers. This is cheap and never fails. */
export interface WorkerMetrics {
  add<Name extends NameOf<'counter'>>(name: Name, labels: Labels<Name>, by?: number): void;
  observe<Name extends NameOf<'histogram'>>(name: Name, labels: Labels<Name>, seconds: number): void;
}

/** The upper bound of the bucket that a duration falls into. */
export const bucketOf = (seconds: number) =>
  String(DURATION_BUCKETS.find((bound) => seconds <= bound) ?? '+Inf');

/** The field of a sum in Redis, `name|label values…|part`, which `readWorkerMetrics` takes apart again. */
function fieldOf(name: keyof Definitions, labels: Readonly<Record<string, string>>, part = ''): string {
  // A missing label becomes empty, since noting an event never fails.
  const values = definitions[name].labels.map((label) => (labels[label] ?? '').replace(/[^\w.-]/g, '_'));
  return [name, ...values, part].join('|');
}

/** Reads the sums that workers have sent, without sums that this version does not know. */
export async function readWorkerMetrics(redis: Redis): Promise<MetricFamily[]> {
  const stored = Object.entries(await redis.hGetAll(keys.metrics)).map(([field, value]) => ({
    parts: field.split('|'),
    value: Number(value),
  }));
  return Object.entries(definitions).map(([name, { type, help, labels }]) => {
    const own = stored.filter(({ parts }) => parts[0] === name && parts.length === labels.length + 2);
    const values = own.map(({ parts, value }) => ({
      labels: Object.fromEntries(labels.map((label, i) => [label, at(parts, i + 1)])),
      part: at(parts, labels.length + 1),
      value,
    }));
    // An alert on the increase of a counter would miss the first one, if it began with that.
    const counted = labels.length === 0 && values.length === 0 ? [{ labels: {}, value: 0 }] : values;
    return { name, type, help, values: type === 'counter' ? counted : histogram(name, values) };
  });
}

interface StoredValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly part: string;
  readonly value: number;
}

/**
 * Makes a histogram. Stored buckets count the values that fell into each; shown buckets also count the values of lower
 * ones.
 */
function histogram(name: string, values: readonly StoredValue[]): MetricSample[] {
  const series = new Map<string, StoredValue[]>();
  for (const value of values) {
    const key = JSON.stringify(value.labels);
    series.set(key, [...(series.get(key) ?? []), value]);
  }
  return [...series.values()].flatMap((parts) => {
    const { labels } = at(parts, 0);
    // A bucket that is not stored is empty.
    const stored = new Map(parts.map(({ part, value }) => [part, value]));
    let count = 0;
    const buckets = [...DURATION_BUCKETS.map(String), '+Inf'].map((le) => {
      count += sumOf(stored, le);
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sumOf(stored, 'sum') },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
}

export interface MetricsBuffer extends WorkerMetrics {
  /** Adds the noted values to the sums in Redis. Values that could not be sent are kept for the next time. */
  flush(): Promise<void>;
  /** Stops the timer and flushes a last time. */
  close(): Promise<void>;
}

/**
 * Collects the metrics of a worker and adds them to sums over all workers and restarts,
 * which the API shows, since workers have no HTTP.
 */
export function createMetricsBuffer(
  redis: Redis,
  { everyMilliseconds = 1_000, onError }: { everyMilliseconds?: number; onError: (error: unknown) => void },
): MetricsBuffer {
  const notes = createNotes();
  const sender = createSender(redis, notes.take);
  const timer = setInterval(() => {
    if (!sender.isSending()) sender.send().catch(onError);
  }, everyMilliseconds);
  timer.unref();

  return {
    add: (name, labels, by = 1) => {
      notes.add(fieldOf(name, labels), by);
    },
    observe: (name, labels, seconds) => {
      notes.add(fieldOf(name, labels, 'sum'), seconds);
      notes.add(fieldOf(name, labels, bucketOf(seconds)), 1);
    },
    flush: sender.send,
    close: async () => {
      clearInterval(timer);
      // The flush that is under way reports its own failure.
      await sender.ended();
      await sender.send().catch(onError);
    },
  };
}

type Sums = ReadonlyMap<string, number>;

/** Keeps the values noted since they were last taken. */
function createNotes() {
  let noted = new Map<string, number>();
  return {
    add: (field: string, by: number): void => {
      if (Number.isFinite(by)) addTo(noted, field, by);
    },
    /** Null when nothing was noted. */
    take: (): Sums | null => {
      if (noted.size === 0) return null;
      const taken = noted;
      noted = new Map();
      return taken;
    },
  };
}

/** Sends batches until `take` has no more. One run happens at a time, since a Redis that is away keeps a run waiting. */
function createSender(redis: Redis, take: () => Sums | null) {
  const batches = createNumberedBatches<Sums>(keys.metricsBatch);
  let running: Promise<void> = Promise.resolve();
  let isSending = false;

  const sendNext = () =>
    batches.send(take, async (values, { key, number }) => {
      await addScript.run(redis, {
        keys: { metrics: keys.metrics, batch: key },
        args: { number, sums: [...values].flatMap(([field, by]) => [field, String(by)]) },
      });
    });
  const sendAll = async () => {
    while (await sendNext());
  };
  return {
    isSending: () => isSending,
    /** Joins the run that is under way, or starts one. */
    send: (): Promise<void> => {
      if (isSending) return running;
      isSending = true;
      running = sendAll().finally(() => {
        isSending = false;
      });
      return running;
    },
    /** Resolves when no run is under way any more, however it ended. */
    ended: (): Promise<void> => running.catch(() => undefined),
  };
}

const addScript = declareScript({
  keys: { metrics: 'key', batch: 'key' },
  args: { number: 'text', sums: 'list' },
}).lua<number>(`${BATCHES}
if answer_to_batch(batch, number) then return 0 end
note_batch(batch, number, '')
for i = 1, #sums, 2 do redis.call('HINCRBYFLOAT', metrics, sums[i], sums[i + 1]) end
return 1
`);
