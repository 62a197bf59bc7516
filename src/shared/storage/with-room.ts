import type { DiskWatch } from '../disk/disk-watch.js';
import type { ObjectStorage } from '../ports.js';

/** The bytes of an object that are written before the disk is looked at again. */
const BYTES_BETWEEN = 2 ** 20;

/** A storage that takes an object only while its disk has room, before it begins and as long as the object arrives. */
export function withRoom(storage: ObjectStorage, disk: DiskWatch): ObjectStorage {
  return { ...storage, put: (key, source) => storage.put(key, whileRoom(source, disk)) };
}

async function* whileRoom(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  disk: DiskWatch,
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
