import { hostname } from 'node:os';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../observability/logger.js';
import type { Settings } from '../settings/schema.js';

/** The number of spans that wait; more are dropped, so that a collector that is away costs no memory. */
const MAX_WAITING = 2_048;
const SENT_AT_ONCE = 512;
const SEND_EVERY_MILLISECONDS = 2_000;
const SEND_MILLISECONDS = 5_000;
/** The time for which the rest is sent when the process stops. */
const CLOSE_MILLISECONDS = 1_500;
const WARN_EVERY_MILLISECONDS = 60_000;

interface ExportOptions {
  readonly process: string;
  readonly logger: Logger;
}

/** Sends spans in batches, beside everything else. */
export function openExport(traces: Settings['traces'], { process: name, logger }: ExportOptions) {
  const exporter = withWarnings(
    new OTLPTraceExporter({
      url: `${traces.endpoint}${traces.endpoint.endsWith('/') ? '' : '/'}v1/traces`,
      headers: parseHeaders(traces.headers),
      timeoutMillis: SEND_MILLISECONDS,
    }),
    logger,
  );
  const provider = new TracerProvider({
    resource: resourceOf(traces.serviceName, name),
    sampler: samplerOf(traces),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: SENT_AT_ONCE,
        scheduledDelayMillis: SEND_EVERY_MILLISECONDS,
        exportTimeoutMillis: SEND_MILLISECONDS,
      }),
    ],
    // A request of ten thousand texts has a job for each group of them.
    spanLimits: { attributeValueLengthLimit: 256, linkCountLimit: 128 },
  });
  return { tracer: provider.getTracer('quire'), close: () => closeSoon(provider) };
}

const resourceOf = (serviceName: string, name: string) =>
  defaultResource()
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(
      resourceFromAttributes({
        'service.name': serviceName,
        'service.instance.id': `${name}-${String(process.pid)}@${hostname()}`,
        'quire.process': name,
      }),
    );

function samplerOf({ sampler, ratio }: Pick<Settings['traces'], 'sampler' | 'ratio'>): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** Reads `name=value` pairs, whose values may be percent-encoded, as the specification of OTLP's exporters says. */
function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): [string, string][] => {
    const [name = '', ...value] = pair.split('=');
    return name.trim() === '' ? [] : [[name.trim().toLowerCase(), decode(value.join('=').trim())]];
  });
  return Object.fromEntries(pairs);
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Says in the log that traces are lost, once a minute at most. */
function withWarnings(exporter: SpanExporter, logger: Logger): SpanExporter {
  let warnedAt = -Infinity;
  let lost = 0;
  return {
    export: (spans, onResult) => {
      exporter.export(spans, (result) => {
        if (result.error) lost += spans.length;
        if (lost > 0 && performance.now() - warnedAt >= WARN_EVERY_MILLISECONDS) {
          warnedAt = performance.now();
          logger.warn({ lost, reason: result.error?.name }, 'traces were not sent');
          lost = 0;
        }
        onResult(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

async function closeSoon(provider: TracerProvider): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MILLISECONDS);
  });
  // Spans that cannot be sent are lost: nobody waits for them.
  await Promise.race([provider.shutdown().catch(() => undefined), late]);
  clearTimeout(timer);
}
