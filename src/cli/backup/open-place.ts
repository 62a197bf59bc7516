import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openFolder, openStorage } from '../../shared/create-storage.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import type { Settings } from '../../shared/settings/schema.js';
import { UserError } from '../user-messages.js';

/**
 * The place of a backup: a folder, or `s3://bucket/prefix` with the credentials and the endpoint of the settings.
 * @param options.isNew whether a folder that is not there is made
 */
export async function openPlace(
  place: string,
  settings: Settings,
  { logger, isNew }: { readonly logger: Logger; readonly isNew: boolean },
): Promise<ObjectStorage> {
  if (!place.startsWith('s3://')) {
    const directory = resolve(place);
    if (isNew) await mkdir(directory, { recursive: true, mode: 0o700 });
    else if (!existsSync(directory)) throw noBackup(place);
    return openFolder(directory);
  }
  const [bucket = '', ...folders] = place.slice('s3://'.length).split('/');
  const s3 = { ...settings.s3, bucket };
  const prefix = folders.filter((folder) => folder !== '').join('/');
  return below(prefix, await openStorage({ ...settings, objectStorage: 's3', s3 }, logger));
}

/** A storage whose keys all begin with a prefix. */
function below(prefix: string, storage: ObjectStorage): ObjectStorage {
  const keyOf = (key: string): string => (prefix === '' ? key : `${prefix}/${key}`);
  return {
    ...storage,
    put: (key, source) => storage.put(keyOf(key), source),
    open: (key) => storage.open(keyOf(key)),
    remove: (key) => storage.remove(keyOf(key)),
  };
}

export const noBackup = (place: string): UserError => new UserError(`There is no whole backup in ${place}.`);
