import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdtempSync } from 'node:fs';
import { chmod, chown, constants, copyFile, lstat, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { User } from './start-confined.js';

/** The folder of a parser process, for the document that it parses and for temporary files. */
export interface ParserFolder {
  readonly path: string;
  /** Moves a file of `incoming` into the folder, or copies any other, or one that is kept. @returns its name within the folder */
  take(file: string, options?: { readonly isKept: boolean }): Promise<string>;
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
    drop: (name) => rm(join(path, name), { force: true }),
    remove: () => removeParserFolder(path),
  };
}

/** Removes a folder with the rights of its owner, so that links which a parser has made there cannot harm other files. */
export async function removeParserFolder(path: string): Promise<void> {
  const { uid, gid } = await lstat(path);
  if (process.getuid?.() !== 0 || uid === 0) {
    await rm(path, { recursive: true, force: true });
    return;
  }
  const empty = 'chmod -R u+rwX . ; rm -rf ./* ./.[!.]* ./..?*';
  const child = spawn('/bin/sh', ['-c', empty], { uid, gid, cwd: path, env: {}, stdio: 'ignore' });
  await once(child, 'exit');
  await rmdir(path);
}
