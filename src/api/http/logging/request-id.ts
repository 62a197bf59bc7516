import { randomUUID } from 'node:crypto';

/** The caller's `X-Request-Id` if it can stand in a header and a log line as it is, else a new one. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:+/=@-]{1,128}$/.test(header) ? header : randomUUID();
}
