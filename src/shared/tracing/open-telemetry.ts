import { AsyncLocalStorage } from 'node:async_hooks';
import { types } from 'node:util';
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Link,
  type Span as OpenSpan,
  type SpanContext,
  type SpanOptions as StartOptions,
  type Tracer as OpenTracer,
} from '@opentelemetry/api';
import type { Logger } from '../observability/logger.js';
import type { Settings } from '../settings/schema.js';
import { systemErrorCode } from '../system-error-code.js';
import { openExport } from './export-spans.js';
import type { Span, SpanOptions, TraceOrigin, TracePlace, Tracer } from './tracing.js';

/** The context that work runs in, and links that its next span gets. */
interface Scope {
  readonly context: Context;
  readonly links: readonly Link[];
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Makes spans with the SDK of OpenTelemetry, whose global interfaces stay untouched. */
export function openTelemetry(
  traces: Settings['traces'],
  options: { readonly process: string; readonly logger: Logger },
): { readonly tracer: Tracer; readonly close: () => Promise<void> } {
  const { tracer, close } = openExport(traces, options);
  return { tracer: createTracer(tracer), close };
}

export function createTracer(open: OpenTracer): Tracer {
  const scopes = new AsyncLocalStorage<Scope | null>();
  const start = (name: string, options: StartOptions, context: Context): Span => {
    const span = open.startSpan(name, options, context);
    const scope = { context: trace.setSpan(ROOT_CONTEXT, span), links: [] };
    return toSpan(span, (work) => scopes.run(scope, work));
  };
  const placeOf = (): TracePlace | null => {
    const scope = scopes.getStore();
    const at = scope && trace.getSpanContext(scope.context);
    return at && isSampled(at) ? { traceparent: toTraceparent(at) } : null;
  };
  return {
    begin: (name, options) => {
      const scope = scopes.getStore();
      return scope ? start(name, { ...toStart(options), links: [...scope.links] }, scope.context) : null;
    },
    beginFor: (traceparent, name, options) => {
      const parent = parseTraceparent(traceparent);
      return parent && start(name, toStart(options), contextOf(parent));
    },
    beginTrace: (name, { from, ...options }) => {
      const origin = originOf(from);
      const isContinued = origin !== null && from?.isContinued === true;
      const links = origin === null || isContinued ? [] : [{ context: origin }];
      return start(name, { ...toStart(options), links }, contextOf(isContinued ? origin : null));
    },
    place: placeOf,
    withinAll: (places, work) => {
      const [first, ...others] = places.flatMap(({ traceparent }) => parseTraceparent(traceparent) ?? []);
      if (!first) return scopes.run(null, work);
      return scopes.run({ context: contextOf(first), links: others.map((context) => ({ context })) }, work);
    },
  };
}

const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & TraceFlags.SAMPLED) !== 0;

const contextOf = (parent: SpanContext | null): Context =>
  parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;

function originOf(from: TraceOrigin | null): SpanContext | null {
  const context = from && parseTraceparent(from.traceparent);
  if (!context || from.tracestate === undefined) return context;
  return { ...context, traceState: createTraceState(from.tracestate.slice(0, MAX_TRACE_STATE)) };
}

/** The length that the specification asks everybody to pass on. */
const MAX_TRACE_STATE = 512;

function toStart({ kind, attributes, startedAtMs }: SpanOptions): StartOptions {
  return {
    kind: kind ? KINDS[kind] : SpanKind.INTERNAL,
    ...(attributes ? { attributes } : {}),
    ...(startedAtMs === undefined ? {} : { startTime: startedAtMs }),
  };
}

function toSpan(span: OpenSpan, within: Span['within']): Span {
  return {
    within,
    set: (attributes) => {
      span.setAttributes(attributes);
    },
    rename: (name) => {
      span.updateName(name);
    },
    fail: (error) => {
      span.setAttribute('error.type', errorTypeOf(error));
      // Work that only gives way to others, or that nobody waits for, has not failed.
      if (!isInterruption(error)) span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end: () => {
      span.end();
    },
  };
}

/** Errors by which work only stops for a while, or because nobody waits for it any more. */
const INTERRUPTIONS = [
  'AbortError',
  'AbandonedError',
  'DelayedError',
  'GaveWayError',
  'NotYetError',
  'TurnOverError',
  'WaitingError',
];

/** A code that work ended with. Any other string may be a message, which may quote a document. */
const ERROR_CODE = /^[\w.-]{1,40}$/;

/** Returns the kind of an error: its code or its name, since messages may quote a document. */
export function errorTypeOf(error: unknown): string {
  if (typeof error === 'string') return ERROR_CODE.test(error) ? error : 'string';
  if (!(error instanceof Error || types.isNativeError(error))) return typeof error;
  return systemErrorCode(error) ?? error.name;
}

const isInterruption = (error: unknown): boolean =>
  error instanceof Error && INTERRUPTIONS.includes(error.name);

/** Version 00 of W3C Trace Context; a later one may have more after it. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ALL_ZEROS = /^0+$/;

/** Reads the header `traceparent` as W3C Trace Context says. Null for an invalid one. */
export function parseTraceparent(header: string): SpanContext | null {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header.trim()) ?? [];
  const isKnown = version !== '' && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isKnown || ALL_ZEROS.test(traceId) || ALL_ZEROS.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`;
