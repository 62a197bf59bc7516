import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../shared/system-error-code.js';
import { isListening } from '../shared/tools/is-listening.js';
import { UserError } from './user-messages.js';

/** The facts about a running service that other commands on its data folder need. */
interface ServiceFacts {
  /** True if `JWT_SECRET_KEY` is set, which other terminals do not see. */
  readonly hasOwnSecret: boolean;
}

const OWN_SECRET = 'JWT_SECRET_KEY';

/**
 * Locks the data folder for this process until it ends for any reason, and tells other commands the facts about it.
 * @throws UserError when another process has it
 */
export async function lockDataDirectory(
  dataDirectory: string,
  { hasOwnSecret }: ServiceFacts = { hasOwnSecret: false },
): Promise<void> {
  await mkdir(dataDirectory, { recursive: true });
  if (await lockBySocket(await realpath(dataDirectory), hasOwnSecret ? OWN_SECRET : '')) return;
  throw new UserError(
    `Quire is running already with the data folder ${dataDirectory}. Stop it first, or set QUIRE_DATA_DIR and PORT.`,
  );
}

const ANSWER_MILLISECONDS = 2_000;

/** Asks the service that runs with this data folder for its facts; null where none answers. */
export async function askRunningService(dataDirectory: string): Promise<ServiceFacts | null> {
  try {
    const socket = connect(socketOf(await realpath(dataDirectory)));
    socket.setTimeout(ANSWER_MILLISECONDS, () => socket.destroy());
    return { hasOwnSecret: (await text(socket)) === OWN_SECRET };
  } catch {
    // There is no folder, nobody listens, or who listens is frozen.
    return null;
  }
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
 * @param told the text for whoever connects
 * @returns null when another process has it
 */
async function lockBySocket(key: string, told = ''): Promise<(() => Promise<void>) | null> {
  const path = socketOf(key);
  for (;;) {
    try {
      const server = await listen(path, told);
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

function socketOf(key: string): string {
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return process.platform === 'linux' ? `\0quire-${digest}` : join(tmpdir(), `quire-${digest}.sock`);
}

/** Listens on a socket, which does not keep the process running. */
async function listen(path: string, told: string): Promise<Server> {
  const server = createServer((socket) => {
    // Who only looks whether somebody listens has gone by now.
    socket.on('error', () => undefined).end(told, () => socket.destroy());
  });
  server.listen(path);
  await once(server, 'listening');
  return server.unref();
}
