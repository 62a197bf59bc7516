import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly directory: string;
  unmount(): void;
}

/** A file system of a few megabytes; null, with a printed reason, where none can be mounted. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const directory = mkdtempSync(join(tmpdir(), 'quire-small-'));
  try {
    const size = `size=${String(megabytes)}m`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', directory], { stdio: 'pipe' });
  } catch (error) {
    console.warn(`skipped: no small disk can be mounted (${String(error).split('\n')[0] ?? ''})`);
    rmSync(directory, { recursive: true });
    return null;
  }
  return {
    directory,
    unmount: () => {
      execFileSync('umount', ['-l', directory]);
      rmSync(directory, { recursive: true });
    },
  };
}

/** A `docx` that takes room on a disk and gives its reader nothing to do. No two are equal. */
export function unreadableFile(megabytes: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(megabytes * 2 ** 20, randomBytes(4_096));
  bytes.write('PK\u0003\u0004', 'latin1');
  return bytes;
}

/** Writes a file until not a byte more fits on its disk. */
export function fillDisk(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = 65_536; size >= 1;) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch {
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}
