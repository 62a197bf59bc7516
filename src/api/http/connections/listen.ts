import { once } from 'node:events';
import type { Server } from 'node:http';

/** The server cannot listen at the address that the settings name; the message tells the reason and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'another program listens there already'],
  ['EACCES', 'this user may not listen there'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['ENOTFOUND', 'there is no such host'],
]);

/** @throws ListenError */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const reason = REASONS.get(code);
    if (reason === undefined) throw cause;
    const settings = 'set PORT and HOST (api.port, api.host) otherwise';
    throw new ListenError(`cannot listen on ${host} port ${String(port)}: ${reason}; ${settings}`, { cause });
  }
}
