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

/** What kind of error it is: its code or its name, since messages may quote a document. */
export function errorTypeOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error || types.isNativeError(error))) return typeof error;
  return systemErrorCode(error) ?? error.name;
}

export const isInterruption = (error: unknown): boolean =>
  error instanceof Error && INTERRUPTIONS.includes(error.name);
