import { types } from 'node:util';

/** Reads `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3). In milliseconds. */
export function parseRetryAfter(headers: Headers, now: number): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/**
 * Returns the loggable cause of a failed connection: its code or its name, since messages may quote a header, and with it a
 * key.
 */
export function networkCause(error: unknown): Error | undefined {
  const inner = isError(error) && isError(error.cause) ? error.cause : error;
  if (!isError(inner)) return undefined;
  return 'code' in inner && typeof inner.code === 'string' ? new Error(inner.code) : new Error(inner.name);
}

/** Recognises also errors of another realm, such as errors of `fetch` within a VM context. */
const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value);
