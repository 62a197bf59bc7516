import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isModelName, MODEL_NAME_RULE, modelsDirectoryOf } from '../../shared/local-models/model-files.js';
import { namedModels } from '../../shared/local-models/named-models.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { onMissing } from '../../shared/system-error-code.js';
import { UserError } from '../user-messages.js';
import { draftOf, listDrafts } from './pulling/drafts.js';
import { lockModel } from '../locks.js';
import { asUserError } from './pull-errors.js';

/**
 * Removes a model file, and the remains of a pull of it.
 * @returns the message for the user
 * @throws UserError
 */
export async function remove(
  name: string,
  { force = false }: { readonly force?: boolean },
  env: Environment,
): Promise<string> {
  if (!isModelName(name)) throw new UserError(`${JSON.stringify(name)}: allowed: ${MODEL_NAME_RULE}`);
  const settings = loadSettings(env, []);
  if (!force) assertUnused(name, settings);
  const directory = modelsDirectoryOf(settings);
  try {
    return await removeFrom(directory, name);
  } catch (error) {
    throw asUserError(error, { directory, env, signal: new AbortController().signal });
  }
}

function assertUnused(name: string, settings: Settings): void {
  const user = namedModels(settings).find((named) => named.name === name);
  if (user)
    throw new UserError(
      `${user.usedBy} = "local" uses ${name}: the service does not start without it. --force removes it all the same.`,
    );
}

async function removeFrom(directory: string, name: string): Promise<string> {
  const hasFile = await isFile(join(directory, name));
  const hasDraft = (await listDrafts(directory)).some((draft) => draft.name === name);
  if (!hasFile && !hasDraft) throw new UserError(`There is no ${name} in ${directory}.`);
  const unlock = await lockModel(directory, name);
  try {
    if (hasFile) await rm(join(directory, name), { force: true });
    await draftOf(directory, name).remove();
  } finally {
    await unlock();
  }
  return hasFile ? `${name} is removed.` : `What was pulled of ${name} is removed.`;
}

/** @throws UserError for a link or a folder, which no pull has made */
async function isFile(path: string): Promise<boolean> {
  const status = await lstat(path).catch(onMissing(null));
  if (!status) return false;
  if (status.isFile()) return true;
  throw new UserError(`${path} is no file, but a link or a folder.`);
}
