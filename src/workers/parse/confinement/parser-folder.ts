import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdtempSync } from 'node:fs';
import { chmod, chown, copyFile, lstat, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { User } from './start-confined.js';

/** The one folder of a parser process, for the document that it reads and for temporary files. */
export interface ParserFolder {
  readonly path: string;
  /** Puts a file there, moved if it is one of `incoming`. @returns its name within the folder */
  take(file: string): Promise<string>;
  /** Removes what `take` put there. */
  drop(name: string): Promise<void>;
  remove(): Promise<void>;
}

interface Place {
  /** Folder of the worker's alone, on the same file system. */
  readonly incoming: string;
  /** Who alone may enter the folder; null: the worker's own user. */
  readonly user: User | null;
}

/** Makes an empty folder within `parent`. */
export function createParserFolder(parent: string, { incoming, user }: Place): ParserFolder {
  const path = mkdtempSync(join(parent, 'parser-'));
  if (user) chownSync(path, user.uid, user.gid);
  return {
    path,
    async take(file) {
      const name = randomUUID();
      const own = dirname(file) === incoming ? file : join(incoming, name);
      if (own !== file) await copyFile(file, own);
      // All this before it moves: in the parser's folder a name may lead anywhere.
      await chmod(own, 0o400);
      if (user) await chown(own, user.uid, user.gid);
      await rename(own, join(path, name));
      return name;
    },
    drop: (name) => rm(join(path, name), { force: true }),
    remove: () => removeParserFolder(path),
  };
}

/** Removes a folder as its owner: whatever a parser has made of it, nothing but what is that owner's can go. */
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
