import { once } from 'node:events';
import type { Server } from 'node:http';

export class PortError extends Error {
  override readonly name = 'PortError';
}

/** @throws PortError that says what is wrong with the address */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const reasons = new Map([
      ['EADDRINUSE', 'another program listens there already'],
      ['EACCES', 'this user may not listen there'],
      ['EADDRNOTAVAIL', 'this machine does not have that address'],
      ['ENOTFOUND', 'there is no such host'],
    ]);
    const reason = reasons.get(code);
    if (reason === undefined) throw cause;
    const settings = 'set PORT and HOST (api.port, api.host) otherwise';
    throw new PortError(`cannot listen on ${host} port ${String(port)}: ${reason}; ${settings}`, { cause });
  }
}

const SWEEP_MILLISECONDS = 100;

/** Takes no new connections, lets requests finish for a while, then cuts off the rest. */
export async function stopServer(server: Server, { drainSeconds }: { drainSeconds: number }): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // Connections that are kept alive become idle one after the other.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, SWEEP_MILLISECONDS);
  const cut = setTimeout(() => {
    server.closeAllConnections();
  }, drainSeconds * 1_000);
  try {
    await closed;
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}
