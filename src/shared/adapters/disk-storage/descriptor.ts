import { join } from 'node:path';
import type { StorageDescriptor } from '../descriptor.js';

export const diskStorage: StorageDescriptor<'disk'> = {
  name: 'disk',
  description: 'in the data folder',
  isRemote: false,
  create: async ({ dataDirectory }, { blockingReadBytes = 0 }) => {
    const { createDiskStorage } = await import('./disk-storage.js');
    return createDiskStorage({ directory: join(dataDirectory, 'objects'), blockingReadBytes });
  },
  advice: ({ dataDirectory }) =>
    `this process keeps them in the data folder ${dataDirectory}. With object_storage = "disk", API and workers ` +
    'need one data folder (QUIRE_DATA_DIR), on several hosts one on a shared volume; or set object_storage = "s3".',
};
