import type { SpanContext } from '@opentelemetry/api';

/** Version 00 of W3C Trace Context; a later one may have more after it. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NONE = /^0+$/;

/** Reads the header `traceparent` as W3C Trace Context says. Null for an invalid one. */
export function parseTraceparent(header: string): SpanContext | null {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = FORM.exec(header.trim()) ?? [];
  const isKnown = version !== '' && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isKnown || NONE.test(traceId) || NONE.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`;
