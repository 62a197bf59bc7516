import type { StorageOptions } from './adapters/descriptor.js';
import { createDiskStorage } from './adapters/disk-storage/disk-storage.js';
import type { DiskWatch } from './disk/disk-watch.js';
import type { Logger } from './observability/logger.js';
import type { ObjectStorage } from './ports.js';
import { objectStorageOf } from './settings/chosen-adapters.js';
import type { Settings } from './settings/schema.js';

type OwnOptions = Omit<StorageOptions, 'logger'>;
type Room = Pick<DiskWatch, 'requireRoom'>;

/** @throws SettingsError when the storage answers that it refuses the settings; one that is away is not waited for */
export async function createObjectStorage(
  settings: Settings,
  logger: Logger,
  { disk, ...options }: OwnOptions & { readonly disk: Room },
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

/** The bytes of an object that are written before the disk is looked at again. */
const BYTES_BETWEEN = 2 ** 20;

/** A storage that takes an object only while its disk has room, before it begins and as long as the object arrives. */
function withRoom(storage: ObjectStorage, disk: Room): ObjectStorage {
  return { ...storage, put: (key, source) => storage.put(key, whileRoom(source, disk)) };
}

async function* whileRoom(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  disk: Room,
): AsyncGenerator<Uint8Array> {
  await disk.requireRoom();
  let written = 0;
  for await (const bytes of source) {
    written += bytes.length;
    if (written >= BYTES_BETWEEN) {
      await disk.requireRoom();
      written = 0;
    }
    yield bytes;
  }
}
