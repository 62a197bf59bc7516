import { mkdir, realpath } from 'node:fs/promises';
import { lockBySocket } from './socket-lock.js';
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
