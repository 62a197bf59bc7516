import { join } from 'node:path';
import type { Logger } from '../observability/logger.js';
import type { Settings } from '../settings/schema.js';
import { createDiskWatch, type DiskWatch } from './disk-watch.js';

/** The disks of this machine that Quire fills. */
export interface Disks {
  /** The disk of the data folder: source files and saved states. */
  readonly data: DiskWatch;
  /** The disk of the folder of Redis' data; null where that is not on this machine, or not known. */
  readonly redis: DiskWatch | null;
  readonly all: readonly DiskWatch[];
}

export function openDisks({ dataDirectory, disk, redis }: Settings, logger: Logger): Disks {
  const redisDirectory = redis.directory === '' ? null : redis.directory;
  const spare = disk.minFreeMegabytes * 2 ** 20;
  const open = (name: string, ...directories: [string, ...string[]]) =>
    createDiskWatch({
      disk: name,
      directories,
      spare,
      redisDirectory,
      onChange: (isShort, state) => {
        const change = isShort ? 'disk nearly full: only what removes is taken' : 'disk has room again';
        logger.warn({ disk: name, directories, ...state }, change);
      },
    });
  // Either may be a disk of its own.
  const written = ['objects', 'states'].map((folder) => join(dataDirectory, folder));
  const data = open('data', dataDirectory, ...written);
  const ofRedis = redisDirectory === null ? null : open('redis', redisDirectory);
  return { data, redis: ofRedis, all: ofRedis ? [data, ofRedis] : [data] };
}
