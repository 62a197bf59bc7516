import type { Prefer } from '../route.js';

const MAX_WAIT_SECONDS = 120;

/**
 * Reads a `Prefer` header (RFC 7240): of a preference stated twice the first counts, nonsense is ignored. In one pass:
 * it comes with any request, before anybody has said who they are.
 */
export function parsePrefer(header: string | readonly string[] | undefined): Prefer {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  const preferences = new Map<string, string>();
  for (const part of splitOutsideQuotes(text)) {
    const preference = readPreference(part);
    if (preference && !preferences.has(preference.name)) preferences.set(preference.name, preference.value);
  }
  return { waitSeconds: waitOf(preferences.get('wait')), respondAsync: preferences.has('respond-async') };
}

/** The parts between commas; a quote without its partner is a character like any other. */
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

/** `name`, `name=value` or `name="value"`, with whatever parameters behind it; null for anything else. */
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

function waitOf(value: string | undefined): number | null {
  if (value === undefined || !/^\d{1,9}$/.test(value)) return null;
  return Number(value) <= MAX_WAIT_SECONDS ? Number(value) : null;
}
