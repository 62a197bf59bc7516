import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorCode } from '../error-code.js';
import { UnavailableError } from '../errors.js';
import { assertObjectKey } from '../object-key.js';
import { MissingObjectError, type ObjectStorage } from '../ports.js';

const component = 'object storage';

/** Longer than any upload may take: a draft as old as this belongs to a process that died. */
const abandonedAfterMs = 24 * 3600 * 1000;

/** Whatever the file system refuses (full, read-only, away, broken) may work later: nobody's document is at fault. */
async function guarded<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    throw errorCode(error) === null ? error : new UnavailableError(component, { cause: error });
  }
}

async function unlessMissing<Result>(action: () => Promise<Result>): Promise<Result | null> {
  try {
    return await action();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Writes and fsyncs a new file; an error of `source` is passed on as it is. */
async function writeFile(
  path: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const file = await guarded(() => open(path, 'wx', 0o600));
  try {
    for await (const bytes of source) await guarded(() => file.writeFile(bytes));
    await guarded(() => file.sync());
  } finally {
    await guarded(() => file.close());
  }
}

/** Removes drafts that crashed processes left behind. */
async function removeAbandoned(drafts: string): Promise<void> {
  for (const name of await readdir(drafts)) {
    const path = join(drafts, name);
    const status = await unlessMissing(() => stat(path));
    if (status && Date.now() - status.mtimeMs > abandonedAfterMs) await rm(path, { force: true });
  }
}

async function* read(path: string, { key, size }: { key: string; size: number }): AsyncGenerator<Uint8Array> {
  const file: FileHandle | null = await guarded(() => unlessMissing(() => open(path, 'r')));
  if (!file) throw new MissingObjectError(key);
  try {
    for (let left = size; left > 0;) {
      const { bytesRead, buffer } = await guarded(() =>
        file.read(Buffer.allocUnsafe(Math.min(left, 65_536)), 0, Math.min(left, 65_536), null),
      );
      // An object never changes: one that is shorter than it was is damaged.
      if (bytesRead === 0) throw new UnavailableError(component);
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/**
 * Objects as files below `directory`, which several processes may share. An object is written beside the others,
 * fsynced and renamed, so that it is there whole or not at all, and still there after the machine lost power.
 */
export async function createDiskStorage({ directory }: { directory: string }): Promise<ObjectStorage> {
  const objects = join(directory, 'objects');
  const drafts = join(directory, 'drafts');
  await guarded(async () => {
    await mkdir(objects, { recursive: true });
    await mkdir(drafts, { recursive: true });
    await removeAbandoned(drafts);
  });

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
    for (let tries = 0, made = false; ; tries += 1) {
      const moved = await unlessMissing(async () => {
        await rename(draft, path);
        return true;
      });
      if (moved) {
        const folders = made ? [...foldersOf(path), objects] : [dirname(path)];
        for (const folder of folders) await syncDirectory(folder);
        return;
      }
      if (tries === 10) throw new UnavailableError(component);
      // Also when a removal takes the empty folder away again before the file is in it.
      await mkdir(dirname(path), { recursive: true });
      made = true;
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
      const status = await guarded(() => unlessMissing(() => stat(path)));
      if (!status?.isFile()) throw await missing(key);
      return { size: status.size, [Symbol.asyncIterator]: () => read(path, { key, size: status.size }) };
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
          if (text !== 'probe') throw new UnavailableError(component);
        } finally {
          await file.close();
        }
      } finally {
        await guarded(() => rm(probe, { force: true }));
      }
    },
  };
}
