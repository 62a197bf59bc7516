import { once } from 'node:events';
import { connect } from 'node:net';

const PATIENCE_MS = 2_000;

/** Whether an address says no more than host and port, so that `ping` is enough to ask whether a Redis answers there. */
export function isPlainAddress(url: string): boolean {
  const { protocol, username, password, pathname, search } = new URL(url);
  return protocol === 'redis:' && [username, password, pathname, search].every((part) => part === '');
}

/**
 * Sends PING to a Redis without TLS or login. The client library could do that, but takes the supervisor 25 MB and a third of
 * the time of its start, and it has nothing else to ask.
 * @throws when nothing answers, or anything else than PONG, such as LOADING
 */
export async function ping(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) });
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('Redis does not answer')));
  try {
    socket.write('PING\r\n');
    const [answer] = (await Promise.race([once(socket, 'data'), untilClosed(socket)])) as [Buffer];
    const line = answer.toString('latin1');
    if (!line.startsWith('+PONG')) throw new Error(line.trim());
  } finally {
    socket.destroy();
  }
}

/** A server that closes the connection without a word raises no error. */
async function untilClosed(socket: ReturnType<typeof connect>): Promise<never> {
  await once(socket, 'close');
  throw new Error('Redis closed the connection');
}
