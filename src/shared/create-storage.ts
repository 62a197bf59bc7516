import { join } from 'node:path';
import { createDiskStorage, type DiskStorageOptions } from './adapters/disk-storage/disk-storage.js';
import type { DiskWatch } from './disk/disk-watch.js';
import type { Logger } from './observability/logger.js';
import type { ObjectStorage } from './ports.js';
import { SettingsError } from './settings/settings-error.js';
import type { Problem } from './settings/rules.js';
import type { Settings } from './settings/schema.js';
import { withRoom } from './storage/with-room.js';

/** @throws SettingsError when S3 answers that it refuses the settings; an S3 that is away is not waited for */
export async function createObjectStorage(
  settings: Settings,
  logger: Logger,
  { disk, ...options }: Omit<DiskStorageOptions, 'directory'> & { readonly disk: DiskWatch },
): Promise<ObjectStorage> {
  const storage = await openStorage(settings, logger, options);
  return settings.objectStorage === 'disk' ? withRoom(storage, disk) : storage;
}

/** The same, but writing goes on until the disk is full. */
export async function openStorage(
  settings: Settings,
  logger: Logger,
  options: Omit<DiskStorageOptions, 'directory'> = {},
): Promise<ObjectStorage> {
  switch (settings.objectStorage) {
    case 'disk':
      return openFolder(join(settings.dataDirectory, 'objects'), options);
    case 's3':
      return createS3(settings, logger);
  }
}

/** A folder as a storage of objects. */
export const openFolder = (
  directory: string,
  options: Omit<DiskStorageOptions, 'directory'> = {},
): Promise<ObjectStorage> => createDiskStorage({ directory, ...options });

async function createS3({ s3 }: Settings, logger: Logger): Promise<ObjectStorage> {
  const { createS3Storage } = await import('./adapters/s3-storage/s3-storage.js');
  const { accessKeyId, secretAccessKey, addressing } = s3;
  const storage = createS3Storage({
    bucket: s3.bucket,
    region: s3.region,
    endpoint: s3.endpoint === '' ? null : s3.endpoint,
    pathStyle: addressing === 'auto' ? s3.endpoint !== '' : addressing === 'path',
    credentials: accessKeyId === '' ? null : { accessKeyId, secretAccessKey },
    timeoutMilliseconds: s3.timeoutSeconds * 1_000,
    onLeftBehind: (error) => {
      logger.warn({ err: error }, 'parts of an upload left behind');
    },
  });
  const refusal = await storage.findRefusal();
  if (refusal) throw new SettingsError([problemOf(refusal, s3)]);
  return storage;
}

function problemOf(
  { about, code }: { about: 'bucket' | 'credentials' | 'region' | 'endpoint'; code: string },
  { bucket, region, endpoint }: Settings['s3'],
): Problem {
  const server = endpoint === '' ? 'Amazon S3' : new URL(endpoint).host;
  const said = `${server} answers ${code}`;
  switch (about) {
    case 'bucket':
      return { setting: 's3.bucket', value: JSON.stringify(bucket), allowed: `must exist; ${said}` };
    case 'region':
      return {
        setting: 's3.region',
        value: JSON.stringify(region),
        allowed: `must be the bucket's; ${said}`,
      };
    case 'endpoint':
      return { setting: 's3.endpoint', value: JSON.stringify(server), allowed: `must be an S3; ${said}` };
    case 'credentials':
      return {
        setting: 's3.access_key_id',
        value: null,
        allowed:
          `${said}: QUIRE_S3_ACCESS_KEY_ID and QUIRE_S3_SECRET_ACCESS_KEY, or what the AWS SDK finds without them, ` +
          `must be allowed to list the bucket "${bucket}" and to get, put and delete its objects`,
      };
  }
}

/** Tells the operator of processes with different storages how to give them the same one. */
export function storageAdvice({ objectStorage, dataDirectory, s3 }: Settings): string {
  switch (objectStorage) {
    case 'disk':
      return (
        `this process keeps them in the data folder ${dataDirectory}. With object_storage = "disk", API and workers ` +
        'need one data folder (QUIRE_DATA_DIR), on several hosts one on a shared volume; or set object_storage = "s3".'
      );
    case 's3':
      return (
        `this process keeps them in the bucket "${s3.bucket}". API and workers need the same object_storage, ` +
        's3.endpoint and s3.bucket.'
      );
  }
}
