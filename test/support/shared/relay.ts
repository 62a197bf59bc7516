import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Relay {
  /** Its address, without a path. */
  readonly url: string;
  /** Sets the destination of new connections; null: they are closed. */
  setTarget(url: string | null): void;
  stop(): Promise<void>;
}

/** An address that stays while the servers behind it come and go. Whatever one side does to a connection, the other sees. */
export async function startRelay(): Promise<Relay> {
  let target: URL | null = null;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (!target) {
      client.destroy();
      return;
    }
    const behind = connect(Number(target.port), target.hostname);
    client.pipe(behind).pipe(client);
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroySoon();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    setTarget: (url) => {
      target = url === null ? null : new URL(url);
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
