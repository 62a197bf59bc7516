import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../shared/system-error-code.js';
import { isListening } from '../shared/tools/is-listening.js';
import { UserError } from './user-messages.js';

/** Listens on a socket, which does not keep the process running. */
async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen(path);
  await once(server, 'listening');
  return server.unref();
}

/**
 * Locks the data folder for this process until it ends for any reason. The lock is a listening socket that is named after
 * the folder (on Linux in the abstract namespace, which leaves no file behind).
 * @throws UserError when another process has it
 */
export async function lockDataDirectory(dataDirectory: string): Promise<void> {
  await mkdir(dataDirectory, { recursive: true });
  const digest = createHash('sha256')
    .update(await realpath(dataDirectory))
    .digest('hex')
    .slice(0, 32);
  const path = process.platform === 'linux' ? `\0quire-${digest}` : join(tmpdir(), `quire-${digest}.sock`);
  for (;;) {
    try {
      await listen(path);
      return;
    } catch (error) {
      if (systemErrorCode(error) !== 'EADDRINUSE') throw error;
      if (await isListening(path)) {
        throw new UserError(
          `Quire is running already with the data folder ${dataDirectory}. Stop it first, or set QUIRE_DATA_DIR and PORT.`,
          { cause: error },
        );
      }
      if (process.platform !== 'linux') await rm(path, { force: true });
    }
  }
}
