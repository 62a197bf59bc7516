import type { IncomingMessage } from 'node:http';
import type { ValidationItem } from '../../../shared/errors.js';
import { HttpError } from '../http-error.js';

export const MAX_KEY_CHARACTERS = 255;

/** Printable ASCII, which the string of a structured header (RFC 8941) may hold. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * Returns the `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header), bare or as the quoted string of the
 * draft, which are the same key. Null without one.
 * @throws HttpError 422 for a key that is empty, too long, not printable ASCII, or stated more than once
 */
export function idempotencyKeyOf({ headersDistinct }: IncomingMessage): string | null {
  const stated = headersDistinct['idempotency-key'];
  if (stated === undefined) return null;
  const [text = '', ...others] = stated;
  if (others.length > 0) throw invalidKey('only one key is expected', 'value_error');
  const key = unquoted(text.trim());
  if (key === '')
    throw invalidKey('ensure this value has at least 1 characters', 'value_error.any_str.min_length', 1);
  if (key.length > MAX_KEY_CHARACTERS) {
    const msg = `ensure this value has at most ${String(MAX_KEY_CHARACTERS)} characters`;
    throw invalidKey(msg, 'value_error.any_str.max_length', MAX_KEY_CHARACTERS);
  }
  if (!PRINTABLE.test(key)) throw invalidKey('only printable ASCII characters are allowed', 'value_error');
  return key;
}

const unquoted = (text: string): string =>
  text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;

export const differentRequest = (): HttpError => invalidKey('this key was used for another request already');

const invalidKey = (...about: Parameters<typeof aboutKey>): HttpError =>
  new HttpError(422, [aboutKey(...about)]);

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** Makes the error about the key of a request. */
export const aboutKey = (msg: string, type = 'value_error', limit?: number): ValidationItem => {
  const item = { loc: ['header', IDEMPOTENCY_HEADER], msg, type };
  return limit === undefined ? item : { ...item, ctx: { limit_value: limit } };
};
