import type { OpenMetricsFamily } from './open-metrics.js';
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
