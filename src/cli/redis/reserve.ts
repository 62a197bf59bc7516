import { randomFillSync } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '../user-messages.js';

/** Enough to read an append-only file whose end is broken, and for a hundred thousand removals. */
const MOST_BYTES = 64 * 2 ** 20;
/** Of a small disk, the reserve takes this part. */
const SHARE_OF_DISK = 1 / 16;
/** With less than this, Redis will end at one of its next writes. */
const NOTHING_LEFT = 2 ** 20;
const LOOK_EVERY_MILLISECONDS = 60_000;

/**
 * Keeps a file beside the data of Redis, which ends when it cannot write. When the disk is full, the file is given up, so that
 * Redis can start and documents can be deleted. Quire itself takes nothing more long before (`shared/disk/`), so that this is
 * for disks that somebody else has filled.
 */
export function keepReserve(directory: string): { readonly beforeStart: () => void } {
  const path = join(directory, 'reserve');
  // A folder that is away, or a disk that fails, is told of by Redis, and ends nothing here.
  const make = () => {
    try {
      const { bsize, blocks, bavail } = statfsSync(directory);
      const bytes = Math.floor(Math.min(MOST_BYTES, SHARE_OF_DISK * blocks * bsize));
      // As much again has to stay free, so that the file is not made of what Redis needs now.
      if (existsSync(path) || bavail * bsize < 2 * bytes + NOTHING_LEFT) return;
      writeWhole(path, bytes);
    } catch {
      rmSync(path, { force: true });
    }
  };
  setInterval(make, LOOK_EVERY_MILLISECONDS).unref();
  return {
    beforeStart: () => {
      if (!isFull(directory)) {
        make();
        return;
      }
      if (!existsSync(path)) return;
      rmSync(path, { force: true });
      say(`The disk of ${directory} is full. Its reserve is given up, so that documents can be deleted.`);
    },
  };
}

function isFull(directory: string): boolean {
  try {
    const { bsize, bavail } = statfsSync(directory);
    return bavail * bsize <= NOTHING_LEFT;
  } catch {
    return false;
  }
}

/** Bytes that no file system makes smaller. */
function writeWhole(path: string, bytes: number): void {
  const file = openSync(path, 'w', 0o600);
  try {
    const part = randomFillSync(Buffer.alloc(2 ** 20));
    for (let left = bytes; left > 0;) left -= writeSync(file, part, 0, Math.min(left, part.length));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
