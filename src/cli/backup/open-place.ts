import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openFolder, openStorage } from '../../shared/create-storage.js';
import type { Logger } from '../../shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import type { Settings } from '../../shared/settings/schema.js';
import { UserError } from '../user-messages.js';
import { once, readAll } from './hashed.js';
import { MANIFEST, manifestSchema, type Manifest } from './manifest.js';

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

/** The manifest of the backup that lies there; null for none. @throws UserError for one of another version */
export async function findManifest(place: ObjectStorage): Promise<Manifest | null> {
  try {
    const text = (await readAll(await place.open(MANIFEST))).toString();
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof MissingObjectError) return null;
    throw new UserError(`The ${MANIFEST} of the backup cannot be read, or is of another version.`, {
      cause: error,
    });
  }
}

export const writeManifest = (place: ObjectStorage, manifest: Manifest): Promise<void> =>
  place.put(MANIFEST, once(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)));
