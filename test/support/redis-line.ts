import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

/** A way to a Redis that can be cut. */
export async function startRedisLine(port: number) {
  const sockets = new Set<Socket>();
  let isCutting = false;
  const line = createServer((near) => {
    const far = createConnection(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.pipe(far);
    far.on('data', (reply) => {
      if (isCutting) near.destroy();
      else near.write(reply);
      isCutting = false;
    });
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  const address = line.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `redis://127.0.0.1:${String(address.port)}`,
    cutAtNextReply: () => {
      isCutting = true;
    },
    close: () => {
      line.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
