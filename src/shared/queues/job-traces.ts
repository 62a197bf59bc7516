import type { Job } from 'bullmq';
import { z } from 'zod';
import { at } from '../at.js';
import { beginSpanFor, isTracing, traced, tracePlace, type Span } from '../tracing/tracing.js';
import type { Addition } from './additions.js';
import type { LaneName } from './lanes.js';

/**
 * The form in which a trace goes with jobs: the `traceparent` of the span that adds them is where BullMQ keeps such a
 * context, in the form of its package for OpenTelemetry. BullMQ's own spans are not made: it has one for each look into a
 * queue. Earlier releases pass over the field, and a job without it begins no trace.
 */
const carrierSchema = z.object({ traceparent: z.string() });

/** The attributes of OpenTelemetry's conventions for messaging. */
const ofQueue = (operation: 'send' | 'process', lane: LaneName) => ({
  'messaging.system': 'bullmq',
  'messaging.operation.type': operation,
  'messaging.operation.name': operation,
  'messaging.destination.name': lane,
});

/** Adds jobs as a span, which goes with them. */
export function tracedAdding(addition: Addition, add: (addition: Addition) => Promise<void>): Promise<void> {
  const { lane, jobs } = addition;
  if (!isTracing() || jobs.length === 0) return add(addition);
  const count = jobs.length;
  const attributes = {
    ...ofQueue('send', lane),
    'quire.job.name': at(jobs, 0).name,
    ...(count > 1
      ? { 'messaging.batch.message_count': count }
      : { 'messaging.message.id': at(jobs, 0).opts.jobId }),
  };
  return traced(`send ${lane}`, { kind: 'producer', attributes }, () => {
    const place = tracePlace();
    if (!place) return add(addition);
    const telemetry = { metadata: JSON.stringify({ traceparent: place.traceparent }) };
    return add({ ...addition, jobs: jobs.map((job) => ({ ...job, opts: { ...job.opts, telemetry } })) });
  });
}

/** The span of a run of a job, if it came with a trace. The first run also tells how long the job waited for it. */
export function beginJobSpan(lane: LaneName, job: Job): Span {
  const traceparent = isTracing() ? traceparentOf(job) : null;
  if (job.attemptsStarted <= 1) {
    const startedAtMs = job.timestamp;
    beginSpanFor(traceparent, 'queue wait', {
      startedAtMs,
      attributes: { 'messaging.destination.name': lane },
    }).end();
  }
  return beginSpanFor(traceparent, `process ${lane}`, {
    kind: 'consumer',
    attributes: {
      ...ofQueue('process', lane),
      'messaging.message.id': job.id,
      'quire.job.name': job.name,
      'quire.job.attempt': job.attemptsStarted,
    },
  });
}

function traceparentOf({ opts: { telemetry } }: Job): string | null {
  try {
    const carrier = carrierSchema.safeParse(JSON.parse(telemetry?.metadata ?? 'null'));
    return carrier.data?.traceparent ?? null;
  } catch {
    return null;
  }
}
