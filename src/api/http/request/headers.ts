import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import type { Precondition } from '../../../shared/document.js';
import type { ValidationItem } from '../../../shared/errors.js';
import { HttpError } from '../http-error.js';

const MAX_WAIT_SECONDS = 120;

/**
 * Returns the id of the request that a response is for.
 * @throws Error before the access log, which every request passes first, has set it
 */
export function answeredRequestId(response: Pick<Response, 'get'>): string {
  const id = response.get('X-Request-Id');
  if (id === undefined) throw new Error('the request did not pass the access log');
  return id;
}

/** Returns a header of a request; empty without it. */
export const headerOf = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  name: 'accept' | 'authorization' | 'content-type',
): string => headers[name] ?? '';

/** The `Prefer` header (RFC 7240). `waitSeconds` is null when the client did not state it, or not correctly. */
export interface Prefer {
  readonly waitSeconds: number | null;
  readonly respondAsync: boolean;
  /** The handling of fields that the route does not know: refused (`strict`) or ignored; null when the request does not say. */
  readonly handling: 'strict' | 'lenient' | null;
}

/**
 * Parses a `Prefer` header (RFC 7240). The first value counts of a preference that is repeated, and malformed ones are
 * ignored. Takes linear time, because anonymous clients can send the header.
 */
export function parsePrefer(header: string | readonly string[] | undefined): Prefer {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  const preferences = new Map<string, string>();
  for (const part of splitOutsideQuotes(text)) {
    const preference = readPreference(part);
    if (preference && !preferences.has(preference.name)) preferences.set(preference.name, preference.value);
  }
  return {
    waitSeconds: waitOf(preferences.get('wait')),
    respondAsync: preferences.has('respond-async'),
    handling: handlingOf(preferences.get('handling')),
  };
}

/** Splits at commas outside quotes; an unpaired quote is an ordinary character. */
function splitOutsideQuotes(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  const lastQuote = text.lastIndexOf('"');
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"' && at < lastQuote) at = text.indexOf('"', at + 1);
    else if (character === ',') {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** Reads `name`, `name=value` or `name="value"`, and ignores parameters behind it; null for anything else. */
function readPreference(part: string): { name: string; value: string } | null {
  const preference = part.slice(0, endBefore(part, ';'));
  const equals = endBefore(preference, '=');
  const name = preference.slice(0, equals).trim().toLowerCase();
  const value = preference.slice(equals + 1).trim();
  if (!/^[\w-]+$/.test(name)) return null;
  const inner = value.slice(1, -1);
  if (value.length > 1 && value === `"${inner}"` && !inner.includes('"')) return { name, value: inner };
  return /\s/.test(value) ? null : { name, value };
}

function endBefore(text: string, mark: string): number {
  const found = text.indexOf(mark);
  return found === -1 ? text.length : found;
}

function handlingOf(value: string | undefined): Prefer['handling'] {
  const handling = value?.toLowerCase();
  return handling === 'strict' || handling === 'lenient' ? handling : null;
}

function waitOf(value: string | undefined): number | null {
  if (value === undefined || !/^\d{1,9}$/.test(value)) return null;
  return Number(value) <= MAX_WAIT_SECONDS ? Number(value) : null;
}

/** Returns the header that answers `Prefer`. With both preferences, the answer is asynchronous only after the wait. */
export function preferenceApplied(
  { waitSeconds, respondAsync }: Prefer,
  isDone: boolean,
): Record<string, string> {
  const applied = [
    ...(respondAsync && !isDone ? ['respond-async'] : []),
    ...(waitSeconds === null ? [] : [`wait=${String(waitSeconds)}`]),
  ];
  return applied.length > 0 ? { 'Preference-Applied': applied.join(', ') } : {};
}

/**
 * Parses an `If-Match` header (RFC 9110, 13.1.1); null without one. Weak tags never match, since the comparison is strong.
 * A tag that lacks its quotes counts as a quoted one.
 */
export function parseIfMatch(header: string | undefined): Precondition | null {
  if (header === undefined) return null;
  const members = header.split(',').map((member) => member.trim());
  if (members.includes('*')) return { type: 'any' };
  return { type: 'tags', tags: members.flatMap(strongTag) };
}

const strongTag = (member: string): string[] => (member.startsWith('W/') ? [] : [unquoted(member)]);

const unquoted = (text: string): string =>
  text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;

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

export const differentRequest = (): HttpError => invalidKey('this key was used for another request already');

const invalidKey = (...about: Parameters<typeof aboutKey>): HttpError =>
  new HttpError(422, [aboutKey(...about)]);

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** Makes the error about the key of a request. */
export const aboutKey = (msg: string, type = 'value_error', limit?: number): ValidationItem => {
  const item = { loc: ['header', IDEMPOTENCY_HEADER], msg, type };
  return limit === undefined ? item : { ...item, ctx: { limit_value: limit } };
};
