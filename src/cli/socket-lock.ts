import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../shared/system-error-code.js';
import { isListening } from '../shared/tools/is-listening.js';

/** Listens on a socket, which does not keep the process running. */
async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen(path);
  await once(server, 'listening');
  return server.unref();
}

/**
 * Locks the object that a key names for this process until it ends for any reason, or calls the function that is returned.
 * The lock is a listening socket that is named after the key (on Linux in the abstract namespace, which leaves no file
 * behind).
 * @returns null when another process has it
 */
export async function lockBySocket(key: string): Promise<(() => Promise<void>) | null> {
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 32);
  const path = process.platform === 'linux' ? `\0quire-${digest}` : join(tmpdir(), `quire-${digest}.sock`);
  for (;;) {
    try {
      const server = await listen(path);
      return async () => {
        server.close();
        await once(server, 'close');
      };
    } catch (error) {
      if (systemErrorCode(error) !== 'EADDRINUSE') throw error;
      if (await isListening(path)) return null;
      if (process.platform !== 'linux') await rm(path, { force: true });
    }
  }
}
