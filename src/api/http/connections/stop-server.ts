import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

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
const MAX_TURNS = 1_000;

/**
 * Lets the server take the connections that the system has made for it already: they would be reset with their requests.
 * A turn of the event loop takes one of them (libuv from 1.45 on), and reads what came over the others.
 */
async function takeWaitingConnections(server: Server): Promise<void> {
  let hasTaken = true;
  const note = () => {
    hasTaken = true;
  };
  server.on('connection', note);
  for (let turns = 0; hasTaken && turns < MAX_TURNS; turns += 1) {
    hasTaken = false;
    await nextTurn();
  }
  server.off('connection', note);
}

/** Takes no new connections, lets requests finish for a while, then cuts off the rest. */
export async function stopServer(server: Server, { drainSeconds }: { drainSeconds: number }): Promise<void> {
  if (!server.listening) return;
  await takeWaitingConnections(server);
  const closed = once(server, 'close');
  server.close();
  // Connections that are kept alive become idle one after the other.
  const sweep = setInterval(() => {
    // After what came over them was read.
    setImmediate(() => {
      server.closeIdleConnections();
    });
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
