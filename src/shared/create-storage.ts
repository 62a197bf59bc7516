import { createDiskStorage } from './adapters/disk-storage/disk-storage.js';
import type { StorageOptions } from './adapters/descriptor.js';
import type { DiskWatch } from './disk/disk-watch.js';
import type { Logger } from './observability/logger.js';
import type { ObjectStorage } from './ports.js';
import { objectStorageOf } from './settings/chosen-adapters.js';
import type { Settings } from './settings/schema.js';
import { withRoom } from './storage/with-room.js';

type OwnOptions = Omit<StorageOptions, 'logger'>;

/** @throws SettingsError when the storage answers that it refuses the settings; one that is away is not waited for */
export async function createObjectStorage(
  settings: Settings,
  logger: Logger,
  { disk, ...options }: OwnOptions & { readonly disk: DiskWatch },
): Promise<ObjectStorage> {
  const storage = await openStorage(settings, logger, options);
  return objectStorageOf(settings).isRemote ? storage : withRoom(storage, disk);
}

/** The same, but writing goes on until the disk is full. */
export const openStorage = (
  settings: Settings,
  logger: Logger,
  options: OwnOptions = {},
): Promise<ObjectStorage> => objectStorageOf(settings).create(settings, { logger, ...options });

/** A folder as a storage of objects. */
export const openFolder = (directory: string): Promise<ObjectStorage> => createDiskStorage({ directory });

/** Tells the operator of processes with different storages how to give them the same one. */
export const storageAdvice = (settings: Settings): string => objectStorageOf(settings).advice(settings);
