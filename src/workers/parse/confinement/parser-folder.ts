import { setTimeout as pause } from 'node:timers/promises';
import { systemErrorCode } from '../../../shared/system-error-code.js';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, constants, createWriteStream, mkdtempSync } from 'node:fs';
import { chmod, chown, copyFile, lstat, open, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { User } from './start-confined.js';

/** The folder of a parser process, for the document that it parses and for temporary files. */
export interface ParserFolder {
  readonly path: string;
  /**
   * Moves a file of `incoming` into the folder, or copies any other file, or a file that is kept. @returns its name within
   * the folder
   */
  take(file: string, options?: { readonly isKept: boolean }): Promise<string>;
  /**
   * Copies a file that the parser has written to `incoming`, where only the worker can change it, and removes it here.
   * @returns the path of the copy
   * @throws Error when it is a link, anything but a file of its own, or has more bytes
   */
  give(name: string, mostBytes: number): Promise<string>;
  /** Removes a file that `take` has put there. */
  drop(name: string): Promise<void>;
  remove(): Promise<void>;
}

interface Place {
  /** A folder that only the worker can enter, on the same file system. */
  readonly incoming: string;
  /** The only user that may enter the folder; null for the worker's own user. */
  readonly user: User | null;
}

/** Creates an empty folder within `parent`. */
export function createParserFolder(parent: string, { incoming, user }: Place): ParserFolder {
  const path = mkdtempSync(join(parent, 'parser-'));
  if (user) chownSync(path, user.uid, user.gid);
  return {
    path,
    async take(file, { isKept } = { isKept: false }) {
      const name = randomUUID();
      const own = dirname(file) === incoming && !isKept ? file : join(incoming, name);
      if (own !== file) await copyFile(file, own, constants.COPYFILE_FICLONE);
      // The file is prepared before it moves, because in the parser's folder its name could have become a symbolic link.
      await chmod(own, 0o400);
      if (user) await chown(own, user.uid, user.gid);
      await rename(own, join(path, name));
      return name;
    },
    give: async (name, mostBytes) => {
      const copy = join(incoming, randomUUID());
      await copyOwnFile(join(path, basename(name)), { copy, mostBytes });
      await rm(join(path, basename(name)), { force: true });
      return copy;
    },
    drop: (name) => rm(join(path, name), { force: true }),
    remove: () => removeParserFolder(path),
  };
}

/** A link could lead to a file that the worker may read and the parser may not. The file is checked after it was opened. */
async function copyOwnFile(
  path: string,
  { copy, mostBytes }: { copy: string; mostBytes: number },
): Promise<void> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.nlink !== 1 || stats.size > mostBytes)
      throw new Error('a parser has written something that is no attachment');
    await pipeline(
      handle.createReadStream({ autoClose: false, end: Math.max(0, stats.size - 1) }),
      createWriteStream(copy),
    );
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

const EMPTY = 'chmod -R u+rwX . ; rm -rf ./* ./.[!.]* ./..?*';
const MAX_TRIES = 5;
const PAUSE_MILLISECONDS = 50;

/** Removes a folder with the rights of its owner, so that links which a parser has made there cannot harm other files. */
export async function removeParserFolder(path: string): Promise<void> {
  const { uid, gid } = await lstat(path);
  if (process.getuid?.() !== 0 || uid === 0) {
    await rm(path, { recursive: true, force: true });
    return;
  }
  for (let tries = 1; ; tries += 1) {
    const child = spawn('/bin/sh', ['-c', EMPTY], { uid, gid, cwd: path, env: {}, stdio: 'ignore' });
    await once(child, 'exit');
    try {
      await rmdir(path);
      return;
    } catch (error) {
      // A file that a crashed process was writing may come to light a moment after its end.
      if (systemErrorCode(error) !== 'ENOTEMPTY' || tries === MAX_TRIES) throw error;
      await pause(tries * PAUSE_MILLISECONDS);
    }
  }
}
