import type { Span, SpanOptions, TracePlace, Tracer, TraceOrigin } from './tracer.js';

export type { Span, SpanOptions, TracePlace } from './tracer.js';

/**
 * The tracer of this process, as OpenTelemetry's own interface has one: traced code is everywhere, and does not depend on
 * it. Null where no traces are wanted, and then everything here does nothing.
 */
let tracer: Tracer | null = null;

export function useTracer(used: Tracer | null): void {
  tracer = used;
}

export const isTracing = (): boolean => tracer !== null;

const nothing: Span = {
  set: () => undefined,
  rename: () => undefined,
  fail: () => undefined,
  end: () => undefined,
  within: (work) => work(),
};

/** Begins a span of the trace in which this runs; whoever begins one ends it. */
export const beginSpan = (name: string, options: SpanOptions = {}): Span =>
  tracer?.begin(name, options) ?? nothing;

/** Begins the trace of a request. */
export const beginTrace = (
  name: string,
  options: SpanOptions & { readonly from: TraceOrigin | null },
): Span => tracer?.beginTrace(name, options) ?? nothing;

/** Begins a span of the trace that a job came with; none for a job without one. */
export const beginSpanFor = (traceparent: string | null, name: string, options: SpanOptions): Span =>
  traceparent === null ? nothing : (tracer?.beginFor(traceparent, name, options) ?? nothing);

/** Does work as a span. */
export function traced<Result>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  if (tracer === null) return work(nothing);
  return tracedBy(beginSpan(name, options), work);
}

/** Does work as a span that was begun for it. */
export async function tracedBy<Result>(span: Span, work: (span: Span) => Promise<Result>): Promise<Result> {
  try {
    return await span.within(() => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/** Yields the items of a source, as a span from the first item that is asked for until the last. */
export function tracedStream<Item>(
  name: string,
  options: SpanOptions,
  open: (span: Span) => AsyncIterable<Item>,
): AsyncIterable<Item> {
  if (tracer === null) return open(nothing);
  // The consumer of the first item may be elsewhere.
  const place = tracePlace();
  return streamOf(() => withinTraces([place], () => beginSpan(name, options)), open);
}

async function* streamOf<Item>(
  begin: () => Span,
  open: (span: Span) => AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const span = begin();
  const source = span.within(() => open(span))[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      // Each step is asked for by a reader, who may be elsewhere by then.
      const step = await span.within(() => source.next());
      isOver = step.done === true;
      if (step.done === true) return;
      yield step.value;
    }
  } catch (error) {
    isOver = true;
    span.fail(error);
    throw error;
  } finally {
    if (!isOver) await source.return?.();
    span.end();
  }
}

/** Returns the place in the trace where this runs; null without a trace that is kept. */
export const tracePlace = (): TracePlace | null => tracer?.place() ?? null;

/** Does work for several callers at once: as part of the first trace, and with links to the others. */
export function withinTraces<Result>(places: readonly (TracePlace | null)[], work: () => Result): Result {
  if (tracer === null) return work();
  const known = new Map(places.flatMap((each) => (each ? [[each.traceparent, each]] : [])));
  return tracer.withinAll([...known.values()], work);
}

/** The ids by which a log line or a measured value is found in its trace. */
export function traceIds(): { readonly trace_id: string; readonly span_id: string } | null {
  const place = tracePlace();
  if (!place) return null;
  const [, trace_id = '', span_id = ''] = place.traceparent.split('-');
  return { trace_id, span_id };
}
