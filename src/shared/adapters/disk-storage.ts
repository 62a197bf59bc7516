import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorCode } from '../error-code.js';
import { UnavailableError } from '../errors.js';
import { assertObjectKey } from '../object-key.js';
import { MissingObjectError, type ObjectStorage } from '../ports.js';
import { createFolderSync, writeFile } from './disk-storage/durable.js';
import { COMPONENT, guarded, unlessMissing } from './disk-storage/guarded.js';

/** Longer than any upload may take: a draft as old as this belongs to a process that died. */
const abandonedAfterMs = 24 * 3600 * 1000;

/** Removes drafts that crashed processes left behind. */
async function removeAbandoned(drafts: string): Promise<void> {
  for (const name of await readdir(drafts)) {
    const path = join(drafts, name);
    const status = await unlessMissing(() => stat(path));
    if (status && Date.now() - status.mtimeMs > abandonedAfterMs) await rm(path, { force: true });
  }
}

interface StoredFile {
  readonly key: string;
  readonly path: string;
  readonly size: number;
}

async function* read({ key, path, size }: StoredFile): AsyncGenerator<Uint8Array> {
  const file: FileHandle | null = await guarded(() => unlessMissing(() => open(path, 'r')));
  if (!file) throw new MissingObjectError(key);
  try {
    for (let left = size; left > 0;) {
      const { bytesRead, buffer } = await guarded(() =>
        file.read(Buffer.allocUnsafe(Math.min(left, 65_536)), 0, Math.min(left, 65_536), null),
      );
      // An object never changes: one that is shorter than it was is damaged.
      if (bytesRead === 0) throw new UnavailableError(COMPONENT);
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function* readBlocking({ key, path, size }: StoredFile): AsyncGenerator<Uint8Array> {
  const bytes = await guarded(() => unlessMissing(() => Promise.resolve(readFileSync(path))));
  if (!bytes) throw new MissingObjectError(key);
  if (bytes.length < size) throw new UnavailableError(COMPONENT);
  yield bytes;
}

export interface DiskStorageOptions {
  readonly directory: string;
  /**
   * Objects of at most this many bytes are read without leaving the thread: for a process that reads what was just
   * written, and whose event loop may wait for the disk.
   */
  readonly blockingReadBytes?: number;
}

/**
 * Objects as files below `directory`, which several processes may share. An object is written beside the others,
 * fsynced and renamed, so that it is there whole or not at all, and still there after the machine lost power.
 */
export async function createDiskStorage({
  directory,
  blockingReadBytes = 0,
}: DiskStorageOptions): Promise<ObjectStorage> {
  const objects = join(directory, 'objects');
  const drafts = join(directory, 'drafts');
  await guarded(async () => {
    await mkdir(objects, { recursive: true });
    await mkdir(drafts, { recursive: true });
    await removeAbandoned(drafts);
  });

  const syncFolder = createFolderSync();

  function pathOf(key: string): string {
    assertObjectKey(key);
    return join(objects, ...key.split('/'));
  }

  /** Without our folder it is the disk that is missing, not the object. */
  async function missing(key: string): Promise<MissingObjectError> {
    await guarded(() => stat(objects));
    return new MissingObjectError(key);
  }

  /** Folders from `path`'s up to the one that holds all. */
  function foldersOf(path: string): string[] {
    const names = relative(objects, dirname(path)).split(sep);
    return names.map((_, index) => join(objects, ...names.slice(0, names.length - index)));
  }

  async function moveInto(draft: string, path: string): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const moved = await unlessMissing(async () => {
        await rename(draft, path);
        return true;
      });
      if (moved) {
        // All of them: another process may have made one and not yet synced the one that holds it.
        await Promise.all([...foldersOf(path), objects].map(syncFolder));
        return;
      }
      if (tries === 10) throw new UnavailableError(COMPONENT);
      // Also when a removal takes the empty folder away again before the file is in it.
      await mkdir(dirname(path), { recursive: true });
    }
  }

  async function removeEmptyFolders(path: string): Promise<void> {
    for (const folder of foldersOf(path)) {
      if (folder === objects) return;
      try {
        await rmdir(folder);
      } catch (error) {
        if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return;
        throw error;
      }
    }
  }

  return {
    bucket: 'disk',
    put: async (key, source) => {
      const path = pathOf(key);
      const draft = join(drafts, randomUUID());
      try {
        await writeFile(draft, source);
        await guarded(() => moveInto(draft, path));
      } catch (error) {
        await guarded(() => rm(draft, { force: true }));
        throw error;
      }
    },
    open: async (key) => {
      const path = pathOf(key);
      const look = () => (blockingReadBytes > 0 ? Promise.resolve(statSync(path)) : stat(path));
      const status = await guarded(() => unlessMissing(look));
      if (!status?.isFile()) throw await missing(key);
      const { size } = status;
      const readAll = size <= blockingReadBytes ? readBlocking : read;
      return { size, [Symbol.asyncIterator]: () => readAll({ key, path, size }) };
    },
    remove: async (key) => {
      const path = pathOf(key);
      await guarded(async () => {
        await stat(objects);
        await unlessMissing(() => rm(path));
        await removeEmptyFolders(path);
      });
    },
    check: async () => {
      const probe = join(drafts, randomUUID());
      try {
        await writeFile(probe, [Buffer.from('probe')]);
        const file = await guarded(() => open(probe, 'r'));
        try {
          const text = await guarded(() => file.readFile('utf8'));
          if (text !== 'probe') throw new UnavailableError(COMPONENT);
        } finally {
          await file.close();
        }
      } finally {
        await guarded(() => rm(probe, { force: true }));
      }
    },
  };
}
