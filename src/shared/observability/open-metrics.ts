import type { Exemplar } from './exemplars.js';
import type { MetricSample } from './prometheus.js';

/** The format that has exemplars. */
export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export interface OpenMetricsFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly (MetricSample & { readonly exemplar?: Exemplar | null | undefined })[];
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

function labelsOf(labels: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escape = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const number = (value: number): string => String(value).replace('Infinity', value < 0 ? 'Inf' : '+Inf');
