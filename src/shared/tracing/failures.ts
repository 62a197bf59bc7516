import { types } from 'node:util';
import { systemErrorCode } from '../system-error-code.js';

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
const CODE = /^[\w.-]{1,40}$/;

/** Returns the kind of an error: its code or its name, since messages may quote a document. */
export function errorTypeOf(error: unknown): string {
  if (typeof error === 'string') return CODE.test(error) ? error : 'string';
  if (!(error instanceof Error || types.isNativeError(error))) return typeof error;
  return systemErrorCode(error) ?? error.name;
}

export const isInterruption = (error: unknown): boolean =>
  error instanceof Error && INTERRUPTIONS.includes(error.name);
