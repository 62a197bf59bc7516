import { statfs } from 'node:fs/promises';
import { UserError } from '../../user-messages.js';
import { inMegabytes } from '../megabytes.js';

/** The bytes that are left free for everything else that writes there. */
const SPARE_BYTES = 64 * 1024 ** 2;

/** @throws UserError when the file system of a folder has no room for this many bytes and some more */
export async function assertRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= bytes + SPARE_BYTES) return;
  throw new UserError(
    `${directory} has ${inMegabytes(free)} MB free. ${inMegabytes(bytes + SPARE_BYTES)} MB are needed, a reserve included.`,
  );
}
