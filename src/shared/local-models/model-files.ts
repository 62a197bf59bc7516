import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../settings/schema.js';
import { systemErrorCode } from '../system-error-code.js';

/** A model file in the models folder, whose name is all that callers may say about where it is. */
export interface ModelFile {
  readonly name: string;
  readonly path: string;
  readonly status: Stats;
}

/** A bare file name: no folder, no hidden file, nothing that a shell or an URL would take for something else. */
const MODEL_NAME = /^[A-Za-z0-9][A-Za-z0-9._+=-]{0,195}\.gguf$/;

export const MODEL_NAME_RULE =
  'a bare file name that ends in .gguf: letters, digits, dots, hyphens, underscores, plus and equals signs';

export function isModelName(name: string): boolean {
  return MODEL_NAME.test(name) && !name.includes('..');
}

/**
 * Finds a model file by its name; null where there is none. Links are no model files, since they lead out of the folder.
 * @throws RangeError for a name that no model file can have
 */
export async function findModelFile(directory: string, name: string): Promise<ModelFile | null> {
  if (!isModelName(name)) throw new RangeError(`not ${MODEL_NAME_RULE}`);
  const path = join(directory, name);
  try {
    const status = await lstat(path);
    return status.isFile() ? { name, path, status } : null;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The model files of a folder by name; none where there is no folder. */
export async function listModelFiles(directory: string): Promise<ModelFile[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const files = await Promise.all(
    names
      .filter(isModelName)
      .sort()
      .map((name) => findModelFile(directory, name)),
  );
  return files.filter((file) => file !== null);
}

/** The folder of model files: the one of the settings, or `models` in the data folder. */
export function modelsDirectoryOf({
  models,
  dataDirectory,
}: Pick<Settings, 'models' | 'dataDirectory'>): string {
  return models.dir === '' ? join(dataDirectory, 'models') : models.dir;
}
