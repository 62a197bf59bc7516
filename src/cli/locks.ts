import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../shared/system-error-code.js';
import { isListening } from '../shared/tools/is-listening.js';
import { UserError } from './user-messages.js';

/**
 * Locks the data folder for this process until it ends for any reason.
 * @throws UserError when another process has it
 */
export async function lockDataDirectory(dataDirectory: string): Promise<void> {
  await mkdir(dataDirectory, { recursive: true });
  if (await lockBySocket(await realpath(dataDirectory))) return;
  throw new UserError(
    `Quire is running already with the data folder ${dataDirectory}. Stop it first, or set QUIRE_DATA_DIR and PORT.`,
  );
}

/**
 * Lets one command at a time change a model file.
 * @returns the function that gives the lock back, as the end of the process does
 * @throws UserError when another command has it
 */
export async function lockModel(directory: string, name: string): Promise<() => Promise<void>> {
  const unlock = await lockBySocket(`model ${join(await realpath(directory), name)}`);
  if (unlock) return unlock;
  throw new UserError(`Another command pulls or removes ${name} just now.`);
}

/**
 * Locks the object that a key names for this process until it ends for any reason, or calls the function that is returned.
 * The lock is a listening socket that is named after the key (on Linux in the abstract namespace, which leaves no file
 * behind).
 * @returns null when another process has it
 */
async function lockBySocket(key: string): Promise<(() => Promise<void>) | null> {
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

/** Listens on a socket, which does not keep the process running. */
async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen(path);
  await once(server, 'listening');
  return server.unref();
}
