import type { Prefer } from './route.js';

const MAX_WAIT_SECONDS = 120;

/** Reads a `Prefer` header (RFC 7240): of a preference stated twice the first counts, nonsense is ignored. */
export function parsePrefer(header: string | readonly string[] | undefined): Prefer {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  const preferences = new Map<string, string>();
  for (const part of splitOutsideQuotes(text)) {
    const [preference = ''] = part.split(';');
    const [, name, quoted, plain] = /^\s*([\w-]+)\s*(?:=\s*(?:"([^"]*)"|(\S*)))?\s*$/.exec(preference) ?? [];
    if (name !== undefined && !preferences.has(name.toLowerCase())) {
      preferences.set(name.toLowerCase(), quoted ?? plain ?? '');
    }
  }
  return { waitSeconds: waitOf(preferences.get('wait')), respondAsync: preferences.has('respond-async') };
}

function splitOutsideQuotes(text: string): string[] {
  return text.match(/(?:"[^"]*"|[^,])+/g) ?? [];
}

function waitOf(value: string | undefined): number | null {
  if (value === undefined || !/^\d{1,9}$/.test(value)) return null;
  return Number(value) <= MAX_WAIT_SECONDS ? Number(value) : null;
}
