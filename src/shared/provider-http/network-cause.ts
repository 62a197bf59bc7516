import { types } from 'node:util';

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
