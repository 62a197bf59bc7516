import { AggregatorRegistry, type MetricValueWithName } from 'prom-client';

/** A metric whose figures are not kept in this process, in the form that prom-client gives its own. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly MetricSample[];
}

/** `metricName` is the family's name with an ending: `_sum`, `_count` or `_bucket` of a histogram. */
export type MetricSample = Readonly<MetricValueWithName<string>>;

/** Some of the metrics of the page that Prometheus scrapes. */
export interface MetricsSource {
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  families(): Promise<readonly OpenMetricsFamily[]>;
}

/** Renders metrics in the Prometheus text format 0.0.4. */
export function renderFamilies(families: readonly MetricFamily[]): Promise<string> {
  const known = families.map((family) => ({ ...family, aggregator: 'first' }));
  return AggregatorRegistry.aggregate([known]).metrics();
}

/** The format that has exemplars. */
export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export type Labels = Readonly<Record<string, string | number | undefined>>;

/** One of the values that were measured, and the trace in which it was. */
export interface Exemplar {
  readonly labels: { readonly trace_id: string; readonly span_id: string };
  readonly value: number;
  readonly atMs: number;
}

interface Sample {
  /** The name of the family with an ending; the family's own where it is absent. */
  readonly metricName?: string | undefined;
  readonly labels: Labels;
  readonly value: number;
  readonly exemplar?: Exemplar | null | undefined;
}

export interface OpenMetricsFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

/**
 * Renders metrics in OpenMetrics 1.0. prom-client does that, too, but renames the counters of its registry by it, so that the
 * text format would be wrong from then on.
 */
export function renderOpenMetrics(families: readonly OpenMetricsFamily[]): string {
  return `${families.flatMap(linesOf).join('\n')}\n# EOF\n`;
}

function linesOf({ name, help, type, values }: OpenMetricsFamily): string[] {
  // A counter is called by the name of its sample without the ending.
  const family = type === 'counter' ? name.replace(/_total$/, '') : name;
  const sampleName = type === 'counter' ? `${family}_total` : name;
  return [
    `# TYPE ${family} ${type}`,
    `# HELP ${family} ${escape(help)}`,
    ...values.map(({ metricName = sampleName, labels, value, exemplar }) => {
      const told = exemplar
        ? ` # ${labelsOf(exemplar.labels)} ${number(exemplar.value)} ${String(exemplar.atMs / 1_000)}`
        : '';
      return `${metricName}${labelsOf(labels)} ${number(value)}${told}`;
    }),
  ];
}

function labelsOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escape = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const number = (value: number): string => String(value).replace('Infinity', value < 0 ? 'Inf' : '+Inf');
