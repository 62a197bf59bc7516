import { randomUUID } from 'node:crypto';
import fs, { readFileSync, statSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { UnavailableError } from '../../errors.js';
import { MissingObjectError, type ObjectStorage } from '../../ports.js';
import { assertObjectKey } from '../../storage/sources.js';
import { systemErrorCode } from '../../system-error-code.js';

/** No upload takes this long: an older draft belongs to a process that died. */
const ABANDONED_AFTER_MS = 24 * 3600 * 1000;
/** A file is moved into its folder this often when others remove the folder meanwhile. */
const MAX_MOVES = 100;
/** Error codes for removing a folder that holds something or is gone already. */
const STILL_IN_USE = ['ENOTEMPTY', 'EEXIST', 'ENOENT'];

/** Removes drafts that crashed processes left behind. */
async function removeAbandoned(drafts: string): Promise<void> {
  for (const name of await readdir(drafts)) {
    const path = join(drafts, name);
    const status = await unlessMissing(() => stat(path));
    if (status && Date.now() - status.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
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
      // An object never changes, so that one which is shorter than it was is damaged.
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
   * Objects of at most this many bytes are read synchronously. This is for processes that read what they have just written,
   * and whose event loop may wait for the disk.
   */
  readonly blockingReadBytes?: number;
}

/**
 * Keeps objects as files below `directory`, which several processes may share. A file is written elsewhere, fsynced and
 * renamed, so that an object is there whole or not at all, and survives a loss of power.
 * @throws UnavailableError when the file system refuses
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
  const syncTogether = createFolderSync();

  return {
    bucket: 'disk',
    put: async (key, source) => {
      const path = pathOf(objects, key);
      // All folders are synced: another process may have made one without having synced the folder that holds it.
      const syncFolders = () => Promise.all([...foldersOf(objects, path), objects].map(syncTogether));
      await store(source, { draft: join(drafts, randomUUID()), path, syncFolders });
    },
    open: (key) => openObject({ objects, key, blockingReadBytes }),
    remove: async (key) => {
      const path = pathOf(objects, key);
      await guarded(async () => {
        await stat(objects);
        await unlessMissing(() => rm(path));
        await removeEmptyFolders(foldersOf(objects, path));
      });
    },
    check: () => probe(join(drafts, randomUUID())),
  };
}

/** Writes a draft and moves it to its path; a draft that cannot get there is removed. */
async function store(
  source: AsyncIterable<Uint8Array>,
  {
    draft,
    path,
    syncFolders,
  }: { readonly draft: string; readonly path: string; readonly syncFolders: () => Promise<unknown> },
): Promise<void> {
  try {
    await writeFile(draft, source);
    await guarded(async () => {
      await moveInto(draft, path);
      await syncFolders();
    });
  } catch (error) {
    await guarded(() => rm(draft, { force: true }));
    throw error;
  }
}

function pathOf(objects: string, key: string): string {
  assertObjectKey(key);
  return join(objects, ...key.split('/'));
}

/** The folders inside `objects` that lead to a path, the innermost first. */
function foldersOf(objects: string, path: string): string[] {
  const folder = relative(objects, dirname(path));
  const names = folder === '' ? [] : folder.split(sep);
  return names.map((_, index) => join(objects, ...names.slice(0, names.length - index)));
}

async function moveInto(draft: string, path: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const isMoved = await unlessMissing(async () => {
      await rename(draft, path);
      return true;
    });
    if (isMoved) return;
    if (tries === MAX_MOVES) throw new UnavailableError(COMPONENT);
    // A removal may delete the empty folder again before the file is in it, or while it is made, hence the loop.
    await unlessMissing(() => mkdir(dirname(path), { recursive: true }));
  }
}

async function removeEmptyFolders(folders: readonly string[]): Promise<void> {
  try {
    for (const folder of folders) await rmdir(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === null || !STILL_IN_USE.includes(code)) throw error;
  }
}

async function openObject({
  objects,
  key,
  blockingReadBytes,
}: {
  objects: string;
  key: string;
  blockingReadBytes: number;
}) {
  const path = pathOf(objects, key);
  const look = () => (blockingReadBytes > 0 ? Promise.resolve(statSync(path)) : stat(path));
  const status = await guarded(() => unlessMissing(look));
  if (!status?.isFile()) {
    // When our own folder is missing, the disk is away, and the object may exist.
    await guarded(() => stat(objects));
    throw new MissingObjectError(key);
  }
  const { size } = status;
  const readAll = size <= blockingReadBytes ? readBlocking : read;
  return { size, [Symbol.asyncIterator]: () => readAll({ key, path, size }) };
}

/** Writes a file, reads it back and removes it. */
async function probe(path: string): Promise<void> {
  try {
    await writeFile(path, [Buffer.from('probe')]);
    const file = await guarded(() => open(path, 'r'));
    try {
      const text = await guarded(() => file.readFile('utf8'));
      if (text !== 'probe') throw new UnavailableError(COMPONENT);
    } finally {
      await file.close();
    }
  } finally {
    await guarded(() => rm(path, { force: true }));
  }
}

/*
 * Most files are texts of a few kB. For these a trip to the thread pool costs more than the work done there, so small files
 * take few trips, and avoid the objects that `fs/promises` makes.
 */
const openFile = promisify(fs.open);
const write = promisify(fs.write);
const sync = promisify(fs.fsync);

const SMALL_BYTES = 65_536;
/** One write of the whole file does both where O_SYNC is as strong as an fsync. */
const WRITE_THROUGH = process.platform === 'linux' ? fs.constants.O_SYNC : 0;
const { O_CREAT, O_EXCL, O_WRONLY } = fs.constants;

/** Writes a new file and fsyncs it. Errors of `source` are passed on unchanged. */
async function writeFile(
  path: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const start: Uint8Array[] = [];
  let size = 0;
  let file: FileHandle | null = null;
  try {
    for await (const bytes of source) {
      size += bytes.length;
      if (!file) start.push(bytes);
      if (size <= SMALL_BYTES) continue;
      const isFirst = file === null;
      const opened = (file ??= await guarded(() => open(path, 'wx', 0o600)));
      await guarded(() => opened.writeFile(isFirst ? Buffer.concat(start) : bytes));
    }
    const written = file;
    await guarded(() => (written ? written.sync() : writeSmall(path, Buffer.concat(start))));
  } finally {
    await guarded(async () => file?.close());
  }
}

async function writeSmall(path: string, bytes: Uint8Array): Promise<void> {
  const file = await openFile(path, O_CREAT | O_EXCL | O_WRONLY | WRITE_THROUGH, 0o600);
  try {
    for (let at = 0; at < bytes.length;) at += (await write(file, bytes, at)).bytesWritten;
    if (bytes.length === 0 || WRITE_THROUGH === 0) await sync(file);
  } finally {
    // Closing a file whose data is on the disk already takes no time.
    fs.closeSync(file);
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await openFile(path, 'r');
  try {
    await sync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

/** Fsyncs folders, which makes their entries durable. Calls for a folder that is being synced share the next sync. */
function createFolderSync(): (folder: string) => Promise<void> {
  const running = new Map<string, Promise<void>>();
  const next = new Map<string, Promise<void>>();
  const start = (folder: string) => {
    next.delete(folder);
    const run = syncFolder(folder).finally(() => running.delete(folder));
    running.set(folder, run);
    return run;
  };
  return (folder) => {
    const current = running.get(folder);
    if (!current) return start(folder);
    const shared = next.get(folder) ?? current.catch(() => undefined).then(() => start(folder));
    next.set(folder, shared);
    return shared;
  };
}

const COMPONENT = 'object storage';

/**
 * Runs a file operation. A file system that refuses (full, read-only, away, broken) may work later, so the document is not at
 * fault.
 * @throws UnavailableError for errors of the system; other errors are passed on
 */
async function guarded<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    throw systemErrorCode(error) === null ? error : new UnavailableError(COMPONENT, { cause: error });
  }
}

async function unlessMissing<Result>(action: () => Promise<Result>): Promise<Result | null> {
  try {
    return await action();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}
