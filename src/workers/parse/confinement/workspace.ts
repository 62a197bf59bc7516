import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../../../shared/error-code.js';
import { isListening } from '../../../shared/is-listening.js';
import type { User } from './start-confined.js';
import { createParserFolder, removeParserFolder, type ParserFolder } from './parser-folder.js';

const PREFIX = 'quire-parse-';
/** What is being set up, without any document in it yet. */
const STARTING = 'quire-starting-';
const STARTING_MILLISECONDS = 60_000;

export interface Workspace {
  /** Folder of the worker alone, for copies of documents on their way to a parser. */
  readonly incoming: string;
  /** An empty folder that `user` alone may enter; null: the worker's own. */
  createFolder(user: User | null): ParserFolder;
  /** Removes all of it. */
  close(): Promise<void>;
}

interface WorkspaceOptions {
  /** Where temporary files go on this machine. */
  readonly parent?: string;
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

/**
 * Opens a folder for everything that parsing puts on the disk, and removes those of workers that were killed: as long
 * as a worker lives, it listens on a socket in its folder.
 */
export async function openWorkspace({
  parent = tmpdir(),
  logger,
}: WorkspaceOptions = {}): Promise<Workspace> {
  for (const path of await abandoned(parent)) {
    await removeWorkspace(path).catch((error: unknown) => {
      // Another worker, started at the same time, may have been quicker.
      if (errorCode(error) !== 'ENOENT') logger?.warn({ path, err: error }, 'old parser files not removed');
    });
  }
  const starting = await mkdtemp(join(parent, STARTING));
  const stopListening = await listenIn(starting);
  await mkdir(join(starting, 'incoming'), { mode: 0o700 });
  // Others may pass through to the folders that are theirs, but not look around.
  await chmod(starting, 0o711);
  const path = join(parent, `${PREFIX}${starting.slice(-6)}`);
  // Only now by the name that is cleaned up as soon as nobody listens.
  await rename(starting, path);
  const incoming = join(path, 'incoming');
  return {
    incoming,
    createFolder: (user) => createParserFolder(path, { incoming, user }),
    async close() {
      await removeWorkspace(path);
      await stopListening();
    },
  };
}

async function removeWorkspace(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await removeParserFolder(join(path, entry.name));
  await rm(path, { recursive: true, force: true });
}

/** Workspaces of this user within `parent` that no living worker has. */
async function abandoned(parent: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(parent)) {
    const isStarting = name.startsWith(STARTING);
    if (!isStarting && !name.startsWith(PREFIX)) continue;
    const path = join(parent, name);
    const stats = await lstat(path).catch(() => null);
    if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) continue;
    if (isStarting && Date.now() - stats.mtimeMs < STARTING_MILLISECONDS) continue;
    if ((await isInUse(path)) === false) found.push(path);
  }
  return found;
}

/** @returns what ends it; so does the death of this process, in whatever way */
async function listenIn(folder: string): Promise<() => Promise<void>> {
  const { path, close } = await socketIn(folder);
  const server = createServer((socket) => socket.destroy()).listen(path);
  await once(server, 'listening');
  server.unref();
  return async () => {
    server.close();
    await close();
  };
}

/** Null where the folder is gone: another worker that started at the same time was quicker. */
async function isInUse(folder: string): Promise<boolean | null> {
  try {
    const { path, close } = await socketIn(folder);
    try {
      return await isListening(path);
    } finally {
      await close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Addresses of sockets are short, folders for temporary files may not be: by way of the open folder all fit. */
async function socketIn(folder: string): Promise<{ path: string; close: () => Promise<void> }> {
  if (process.platform !== 'linux') return { path: join(folder, 'alive'), close: () => Promise.resolve() };
  const handle = await open(folder, 'r');
  return { path: `/proc/self/fd/${String(handle.fd)}/alive`, close: () => handle.close() };
}
