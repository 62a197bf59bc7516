import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parseSocketUrl } from '../../shared/redis/socket-url.js';

const PATIENCE_MS = 2_000;

/**
 * Tells whether an address says no more than host and port, or the path of a socket, so that `ping` can ask whether a Redis
 * answers there.
 */
export function isPlainAddress(url: string): boolean {
  const socket = parseSocketUrl(url);
  if (socket) return Object.keys(socket).length === 1;
  const { protocol, username, password, pathname, search } = new URL(url);
  return protocol === 'redis:' && [username, password, pathname, search].every((part) => part === '');
}

/**
 * Sends PING to a Redis without TLS or login. The client library could do that, but takes the supervisor 25 MB and a third of
 * the time of its start, and it has nothing else to ask.
 * @throws when nothing answers, or anything else than PONG, such as LOADING
 */
export async function ping(url: string): Promise<void> {
  const socket = connectTo(url);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('Redis does not answer')));
  try {
    socket.write('PING\r\n');
    const values: readonly unknown[] = await Promise.race([once(socket, 'data'), untilClosed(socket)]);
    const [answer] = values;
    const line = Buffer.isBuffer(answer) ? answer.toString('latin1') : '';
    if (!line.startsWith('+PONG')) throw new Error(line.trim());
  } finally {
    socket.destroy();
  }
}

/** Connects to where a Redis listens, without a login. */
export function connectTo(url: string): Socket {
  const socket = parseSocketUrl(url);
  if (socket) return connect({ path: socket.path });
  const { hostname, port } = new URL(url);
  return connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) });
}

/** A server that closes the connection without a word raises no error. */
async function untilClosed(socket: ReturnType<typeof connect>): Promise<never> {
  await once(socket, 'close');
  throw new Error('Redis closed the connection');
}
