/** The attributes of a span: ids, sizes, names of models and states. Never content, queries or names of files. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

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
  /** A span of work that another process or caller asked for. */
  beginFor(traceparent: string, name: string, options: SpanOptions): Span;
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
