/** The attributes of a span: ids, sizes, names of models and states. Never content, queries or names of files. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** The role of the span in a call; part of this process's own work by default. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /** When it began, if that was not now. */
  readonly startedAtMs?: number;
}

/** A piece of work whose time is taken. */
export interface Span {
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** Says that the work failed, by the kind of the error alone: messages may quote a document. */
  fail(error: unknown): void;
  end(): void;
  /** Runs a part of this work. */
  within<Result>(work: () => Result): Result;
}

/** A place in a trace, to be kept for work that is done for it later, in the turn of another. */
export interface TracePlace {
  readonly traceparent: string;
}

/** The interface of makers of spans, where traces are wanted. */
export interface Tracer {
  /** A span of the trace in which this runs; null where it runs in none. */
  begin(name: string, options: SpanOptions): Span | null;
  /** A span of work that another process or caller asked for; null for what is no name of a trace. */
  beginFor(traceparent: string, name: string, options: SpanOptions): Span | null;
  /** Begins the first span of a trace, which refers to the name that its caller has for itself. */
  beginTrace(name: string, options: SpanOptions & { readonly from: TraceOrigin | null }): Span;
  /** Null where nothing of the trace is kept, or there is none. */
  place(): TracePlace | null;
  /** Runs work that is done for all of these: as part of the first, and with links to the others. */
  withinAll<Result>(places: readonly TracePlace[], work: () => Result): Result;
}

/** The context that a request came with. */
export interface TraceOrigin {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
  /** True if the trace of the caller is continued, with its sampling. Otherwise it is only referred to. */
  readonly isContinued: boolean;
}

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

/** Tells a server in which trace it is asked. */
export const tracedFetch: typeof fetch = (input, init) => {
  const place = tracePlace();
  if (!place) return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.set('traceparent', place.traceparent);
  return fetch(input, { ...init, headers });
};

/** Returns the function that sends requests to somebody else's provider, if not `fetch` itself. */
export const fetchFor = ({ toProviders }: { readonly toProviders: boolean }): typeof fetch | undefined =>
  toProviders ? tracedFetch : undefined;
