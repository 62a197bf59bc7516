import { at } from '../at.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { DURATION_BUCKETS } from './duration-buckets.js';
import type { MetricFamily, MetricSample } from './prometheus.js';

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

/** The field of a sum in Redis, `name|label values…|part`, which `readStoredMetrics` takes apart again. */
export function fieldOf(
  name: keyof Definitions,
  labels: Readonly<Record<string, string>>,
  part = '',
): string {
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
    const valueOf = (part: string) => parts.find((each) => each.part === part)?.value ?? 0;
    let count = 0;
    const buckets = [...DURATION_BUCKETS.map(String), '+Inf'].map((le) => {
      count += valueOf(le);
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: valueOf('sum') },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
}
