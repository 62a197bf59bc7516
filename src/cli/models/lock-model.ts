import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { lockBySocket } from '../socket-lock.js';
import { UserError } from '../user-messages.js';

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
