import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

const CLOSE_IDLE_EVERY_MILLISECONDS = 100;
const MAX_TURNS = 1_000;

/** Takes no new connections, lets requests finish for `drainSeconds`, then closes the connections that are left. */
export async function stopServer(server: Server, { drainSeconds }: { drainSeconds: number }): Promise<void> {
  if (!server.listening) return;
  await acceptWaitingConnections(server);
  const closed = once(server, 'close');
  server.close();
  // Connections that are kept alive become idle one after the other.
  const closeIdle = setInterval(() => {
    // setImmediate lets Node.js first read the bytes that have arrived over them.
    setImmediate(() => {
      server.closeIdleConnections();
    });
  }, CLOSE_IDLE_EVERY_MILLISECONDS);
  const closeAll = setTimeout(() => {
    server.closeAllConnections();
  }, drainSeconds * 1_000);
  try {
    await closed;
  } finally {
    clearInterval(closeIdle);
    clearTimeout(closeAll);
  }
}

/**
 * Accepts the connections that the operating system has already established: closing the listening socket would reset them,
 * and their requests would be lost. Each turn of the event loop accepts one connection (since libuv 1.45) and reads from
 * the others.
 */
async function acceptWaitingConnections(server: Server): Promise<void> {
  let hasAccepted = true;
  const note = () => {
    hasAccepted = true;
  };
  server.on('connection', note);
  for (let turns = 0; hasAccepted && turns < MAX_TURNS; turns += 1) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}
