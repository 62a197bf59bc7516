import { shownAddress } from '../models/in-use/models-in-use.js';
import type { Logger } from '../observability/logger.js';
import type { Settings } from '../settings/schema.js';
import { traceIds, useTracer } from './tracing.js';

/** Tells whether traces are made. */
export const areTracesWanted = ({ traces }: Pick<Settings, 'traces'>): boolean =>
  traces.endpoint !== '' && !traces.disabled && traces.sampler !== 'always_off';

/** Fields by which log lines are found in their traces; absent where there are none. */
export const traceFieldsOf = (settings: Pick<Settings, 'traces'>): (() => object) | undefined =>
  areTracesWanted(settings) ? () => ({ ...traceIds() }) : undefined;

/**
 * Begins to make traces where the settings want them. Otherwise nothing is loaded.
 * @returns a function that sends the rest, in a second or two at most
 */
export async function startTracing(
  settings: Pick<Settings, 'traces'>,
  { process, logger }: { readonly process: string; readonly logger: Logger },
): Promise<() => Promise<void>> {
  if (!areTracesWanted(settings)) return () => Promise.resolve();
  const { openTelemetry } = await import('./open-telemetry.js');
  const { tracer, close } = openTelemetry(settings.traces, { process, logger });
  useTracer(tracer);
  logger.info({ endpoint: shownAddress(settings.traces.endpoint) }, 'traces are sent');
  return close;
}
