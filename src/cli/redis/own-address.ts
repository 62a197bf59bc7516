import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { socketUrlOf } from '../../shared/redis/socket-url.js';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { freePort } from '../free-port.js';

/** The address at which a Redis of our own listens, and its options for that. */
export interface OwnAddress {
  readonly url: string;
  readonly options: readonly string[];
}

/** The longest path of a socket (`sun_path`), in bytes. Longer ones are cut without a word. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * Chooses where the Redis of a folder listens, which nobody else may enter: on a socket in there, and on no port, so that other
 * users of this machine cannot reach it. Where there can be no such socket, it listens on a port of the loopback address, with
 * a password in a file of the folder, since arguments of processes can be read by everybody.
 */
export async function chooseOwnAddress(directory: string): Promise<OwnAddress> {
  const path = join(directory, 'redis.sock');
  if (await canListen(path))
    return {
      url: socketUrlOf(path),
      options: ['--port', '0', '--unixsocket', path, '--unixsocketperm', '700'],
    };
  const [port, password] = [String(await freePort()), randomBytes(32).toString('hex')];
  const file = join(directory, 'redis.conf');
  await writePrivate(file, `requirepass ${password}\n`);
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    options: [file, '--port', port, '--bind', '127.0.0.1'],
  };
}

/** Some file systems have no sockets, such as folders that are shared with a virtual machine. */
async function canListen(path: string): Promise<boolean> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return false;
  await rm(path, { force: true });
  const server = createServer();
  try {
    server.listen(path);
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** Notes the address for other commands, and for the next start. It may hold a password. */
export async function noteOwnAddress(directory: string, { url }: OwnAddress): Promise<void> {
  await writePrivate(join(directory, 'address'), url);
  // Earlier versions noted a port.
  await rm(join(directory, 'port'), { force: true });
}

/** Returns the address of the Redis that was started last on a folder; null when there was none. */
export async function readOwnAddress(directory: string): Promise<string | null> {
  const url = await readIfThere(join(directory, 'address'));
  if (url !== null) return url;
  const port = Number(await readIfThere(join(directory, 'port')));
  return Number.isInteger(port) && port > 0 ? `redis://127.0.0.1:${String(port)}` : null;
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces a file by one that nobody else can read, whoever could read the old one. */
async function writePrivate(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}
