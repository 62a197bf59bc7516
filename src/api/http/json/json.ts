import { HttpError } from '../http-error.js';
import { replaceInexact, scanJson } from './scan-json.js';

export interface JsonOptions {
  /**
   * Numbers in this many objects and lists, or more, are Infinity where a double would change them. In a body these are
   * numbers inside of its fields, such as metadata and filters; its own numbers are compared with their bounds only.
   */
  readonly exactFrom?: number;
}

/** @throws HttpError 422 in the format of pydantic 1 */
export function parseJson(bytes: Uint8Array, options: JsonOptions = {}): unknown {
  try {
    return parseBounded(bytes, options);
  } catch (cause) {
    throw invalidJson(cause);
  }
}

/** @throws an error for malformed JSON, and for JSON that is too deep or has too many keys or values */
export function parseBounded(bytes: Uint8Array, { exactFrom = 2 }: JsonOptions = {}): unknown {
  const scan = scanJson(bytes, exactFrom);
  if (!scan) throw new SyntaxError('too deep, or too many keys or values');
  const { inexact } = scan;
  const kept = inexact.length === 0 ? bytes : replaceInexact(bytes, inexact);
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(kept));
}

export function invalidJson(cause?: unknown): HttpError {
  const item = { loc: ['body'], msg: 'Invalid JSON', type: 'value_error.jsondecode' };
  return new HttpError(422, [item], { cause });
}
