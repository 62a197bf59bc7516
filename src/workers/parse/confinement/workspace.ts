import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../../../shared/system-error-code.js';
import { isListening } from '../../../shared/tools/is-listening.js';
import type { User } from './start-confined.js';
import { createParserFolder, removeParserFolder, type ParserFolder } from './parser-folder.js';

const PREFIX = 'quire-parse-';
/** Prefix of a workspace that is being created and contains no document yet. */
const STARTING = 'quire-starting-';
const STARTING_MILLISECONDS = 60_000;

export interface Workspace {
  /** A folder that only the worker can enter, for copies of documents on their way to a parser. */
  readonly incoming: string;
  /** Creates an empty folder that only `user` may enter; null stands for the worker's own user. */
  createFolder(user: User | null): ParserFolder;
  /** Removes the workspace with everything in it. */
  close(): Promise<void>;
}

interface WorkspaceOptions {
  /** The folder for temporary files of this machine. */
  readonly parent?: string;
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

/**
 * Creates a folder for everything that parsing writes to the disk, and removes the folders of workers that were killed. As
 * long as a worker lives, it listens on a socket in its folder.
 */
export async function openWorkspace({
  parent = tmpdir(),
  logger,
}: WorkspaceOptions = {}): Promise<Workspace> {
  for (const path of await abandoned(parent)) {
    await removeWorkspace(path).catch((error: unknown) => {
      // Another worker that started at the same time may have removed it first.
      if (systemErrorCode(error) !== 'ENOENT')
        logger?.warn({ path, err: error }, 'old parser files not removed');
    });
  }
  const starting = await mkdtemp(join(parent, STARTING));
  const stopListening = await listenIn(starting);
  await mkdir(join(starting, 'incoming'), { mode: 0o700 });
  // Other users may pass through to their own folders, but cannot list this one.
  await chmod(starting, 0o711);
  const path = join(parent, `${PREFIX}${starting.slice(-6)}`);
  // Workspaces with this prefix are removed as soon as nobody listens in them, so the name is only given now.
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

/** Lists workspaces of this user within `parent` that belong to no running worker. */
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

/** Listens on a socket in the folder. Returns a function that ends that; the end of this process does as well. */
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

/** Tells whether a worker listens in the folder. Null when the folder is gone, because another worker has removed it. */
async function isInUse(folder: string): Promise<boolean | null> {
  try {
    const { path, close } = await socketIn(folder);
    try {
      return await isListening(path);
    } finally {
      await close();
    }
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Returns a short path of the socket. Paths of sockets are limited in length, so it leads through an open descriptor. */
async function socketIn(folder: string): Promise<{ path: string; close: () => Promise<void> }> {
  if (process.platform !== 'linux') return { path: join(folder, 'alive'), close: () => Promise.resolve() };
  const handle = await open(folder, 'r');
  return { path: `/proc/self/fd/${String(handle.fd)}/alive`, close: () => handle.close() };
}
