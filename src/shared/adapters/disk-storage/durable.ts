import fs from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { guarded } from './guarded.js';

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
export async function writeFile(
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
export function createFolderSync(): (folder: string) => Promise<void> {
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
