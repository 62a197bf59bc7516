import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface RedisProxy {
  readonly url: string;
  /** Holds back the next commands that name `word`, and all that follows on their connections, until released. */
  hold(word: string): { readonly held: Promise<void>; release(): void };
  /** Breaks the connection of the next reply, which is lost with it: Redis has done what it was asked. */
  cutAtNextReply(): void;
  /** Breaks all connections; new ones go to another server, as after a failover behind one address. */
  moveTo(redisPort: number): void;
  close(): Promise<void>;
}

/**
 * Stands before a Redis, so that something else may happen between two commands of a client.
 *
 * @param rewrite what becomes of the bytes that come by, piece by piece
 */
export async function startRedisProxy(
  redisPort: number,
  rewrite: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<RedisProxy> {
  let target = redisPort;
  let gate: { word: string; opened: Promise<void>; onHeld: () => void } | null = null;
  let isCutting = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const redis = connect(target, '127.0.0.1');
    sockets.add(client).add(redis);
    redis.on('data', (bytes) => {
      if (isCutting) client.destroy();
      else client.write(rewrite(bytes));
      isCutting = false;
    });
    let sent = Promise.resolve();
    client.on('data', (bytes) => {
      sent = sent.then(async () => {
        if (gate && bytes.includes(gate.word)) {
          gate.onHeld();
          await gate.opened;
        }
        redis.write(rewrite(bytes));
      });
    });
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `redis://127.0.0.1:${String(address.port)}`,
    hold: (word) => {
      let onHeld = (): void => undefined;
      let open = (): void => undefined;
      const held = new Promise<void>((resolve) => (onHeld = resolve));
      const opened = new Promise<void>((resolve) => (open = resolve));
      gate = { word, opened, onHeld };
      const release = () => {
        gate = null;
        open();
      };
      return { held, release };
    },
    cutAtNextReply: () => {
      isCutting = true;
    },
    moveTo: (port) => {
      target = port;
      breakAll();
    },
    close: async () => {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}
