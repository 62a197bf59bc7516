import { randomFillSync } from 'node:crypto';
import { rmSync, statSync, statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { say } from '../user-messages.js';

/** Enough to read an append-only file whose end is broken, and for a hundred thousand removals. */
const MAX_BYTES = 64 * 2 ** 20;
/** The part of a small disk that the reserve takes. */
const SHARE_OF_DISK = 1 / 16;
/** The part of the reserve below which Redis will end at one of its next writes, which may be of some megabytes. */
const NOTHING_LEFT = 1 / 4;
const LOOK_EVERY_MILLISECONDS = 60_000;

interface Reserve {
  /** Makes the file where it is missing or not whole, and there is room. Never rejects. */
  readonly make: () => Promise<void>;
  /** Gives the file up if the disk is full. Never throws. */
  readonly beforeStart: () => void;
}

/**
 * Keeps a file beside the data of Redis, which ends when it cannot write. When the disk is full, the file is given up, so
 * that Redis can start and documents can be deleted. Quire itself takes nothing more long before (`shared/disk/`), so that
 * this is for disks that somebody else has filled. A folder that cannot be looked at, for instance because it is gone, ends
 * nothing here.
 */
export function keepReserve(directory: string): Reserve {
  const path = join(directory, 'reserve');
  let isMaking = false;
  const make = async () => {
    if (isMaking) return;
    isMaking = true;
    try {
      const { free, reserve } = look(directory);
      // As much again has to stay free, so that the file does not take the room that Redis needs now.
      if (sizeOf(path) < reserve && free + sizeOf(path) > (2 + NOTHING_LEFT) * reserve)
        await writeWhole(path, reserve);
    } catch {
      giveUp(path);
    } finally {
      isMaking = false;
    }
  };
  setInterval(() => void make(), LOOK_EVERY_MILLISECONDS).unref();
  return {
    make,
    beforeStart: () => {
      try {
        const { free, reserve } = look(directory);
        if (free > NOTHING_LEFT * reserve || sizeOf(path) === 0) return;
      } catch {
        return;
      }
      if (giveUp(path))
        say(`The disk of ${directory} is full. Its reserve is given up, so that documents can be deleted.`);
    },
  };
}

function look(directory: string): { readonly free: number; readonly reserve: number } {
  const { bsize, blocks, bavail } = statfsSync(directory);
  return { free: bavail * bsize, reserve: Math.floor(Math.min(MAX_BYTES, SHARE_OF_DISK * blocks * bsize)) };
}

/** One that was being written when this process was killed is smaller than it should be. */
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function giveUp(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Bytes that no file system makes smaller. Other work goes on meanwhile, such as that on a signal to stop. */
async function writeWhole(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    const part = randomFillSync(Buffer.alloc(2 ** 20));
    for (let left = bytes; left > 0;)
      left -= (await file.write(part, 0, Math.min(left, part.length))).bytesWritten;
    await file.sync();
  } finally {
    await file.close();
  }
}
