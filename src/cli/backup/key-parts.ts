import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ObjectStorage } from '../../shared/ports.js';
import { KEY_PREFIX, keys } from '../../shared/redis/keys.js';
import { UserError } from '../user-messages.js';
import { once, openVerified, putHashed, readAll } from './hashed.js';
import { readKeyRecords, writeKeyRecord, type KeyRecord } from './key-records.js';
import type { KeyPart, Places } from './manifest.js';

/** Bytes of records in a part; memory holds one part. A larger value has a part of its own. */
const PART_BYTES = 16 * 2 ** 20;
/** The most that a part may hold that does not say it: the largest value that Redis takes by default goes beyond such a part. */
const MAX_UNPACKED = PART_BYTES + 512 * 2 ** 20;

/** Writes keys into the place of a backup, some MiB at a time. */
export function createKeyParts(place: ObjectStorage, places: Pick<Places, 'keys'>) {
  const parts: KeyPart[] = [];
  let waiting: Buffer[] = [];
  let bytes = 0;
  const write = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const name = places.keys(parts.length + 1);
    // Vectors hardly become smaller, so that more effort would be of no use.
    const packed = await promisify(gzip)(Buffer.concat(waiting), { level: 1 });
    const unpacked = bytes;
    waiting = [];
    bytes = 0;
    parts.push({ name, unpacked, ...(await putHashed(place, name, once(packed))) });
  };
  return {
    add: async (record: KeyRecord): Promise<void> => {
      const written = writeKeyRecord(record);
      waiting.push(written);
      bytes += written.length;
      if (bytes >= PART_BYTES) await write();
    },
    /** Writes the waiting records, and answers all parts. */
    end: async (): Promise<readonly KeyPart[]> => {
      await write();
      return parts;
    },
  };
}

/**
 * Reads the keys of a part. @throws UserError when it is damaged, or holds keys that no backup has; its records throw it as
 * well
 */
export async function readKeyPart(place: ObjectStorage, part: KeyPart): Promise<Iterable<KeyRecord>> {
  const packed = await readAll(openVerified(place, part.name, part));
  return ownRecords(readKeyRecords(await unpack(packed, part)), part);
}

/** Unpacks a part. The writer of the backup decides how much a few bytes unpack to; no more is taken than there is room for. */
async function unpack(packed: Buffer, { name, unpacked = MAX_UNPACKED }: KeyPart): Promise<Buffer> {
  const room = process.availableMemory();
  if (unpacked > Math.max(room, MAX_UNPACKED))
    throw new UserError(
      `${name} of the backup needs ${String(Math.ceil(unpacked / 2 ** 20))} MiB of memory, of which ${String(Math.floor(room / 2 ** 20))} are free.`,
    );
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: Math.max(unpacked, 1) });
  } catch (error) {
    throw new UserError(`${name} of the backup cannot be unpacked, or is larger than it says.`, {
      cause: error,
    });
  }
}

/** Redis may hold data of other programs, which whoever can write the backup must not reach. */
function* ownRecords(records: Iterable<KeyRecord>, { name }: KeyPart): Iterable<KeyRecord> {
  for (const record of records) {
    if (!record.key.startsWith(KEY_PREFIX) || record.key === keys.restoring)
      throw new UserError(
        `${name} of the backup holds a key that is none of Quire's: ${JSON.stringify(record.key)}.`,
      );
    yield record;
  }
}
