import { randomUUID } from 'node:crypto';

/** Returns the client's `X-Request-Id` if it is safe in a header and in a log line, else a new id. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:+/=@-]{1,128}$/.test(header) ? header : randomUUID();
}
