import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, statSync, statfsSync } from 'node:fs';
import { chmod, mkdir, realpath, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { superviseChild, type Child } from '../supervise-child.js';
import { say } from '../user-messages.js';
import { chooseOwnAddress, noteOwnAddress, readOwnAddress, type OwnAddress } from './own-address.js';
import { connectTo } from './ping.js';
import { withClient } from './reach-redis.js';

/** On Linux, Redis gets SIGTERM when this process dies for any reason. On other systems the next start ends it. */
function endingWithUs(server: string): readonly [string, ...string[]] {
  if (process.platform !== 'linux') return [server];
  const probe = spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true'], { stdio: 'ignore' });
  return probe.status === 0 ? ['setpriv', '--pdeathsig', 'TERM', server] : [server];
}

function serverOptions(directory: string, { options }: OwnAddress): string[] {
  const kept = ['--dir', directory, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const process = ['--daemonize', 'no', '--loglevel', 'warning', '--logfile', 'redis.log'];
  return [...options, ...kept, '--maxmemory-policy', 'noeviction', ...process];
}

export interface OwnRedis {
  /** May hold a password. */
  readonly url: string;
  /** The folder of its data. */
  readonly directory: string;
  readonly child: Child;
}

/**
 * Starts `server` as a child, with its data and its address in `<data folder>/redis`, which is for this user alone. Writes are
 * appended to a file and synced before each reply, and nothing is ever evicted.
 */
export async function startOwnRedis({
  server,
  dataDirectory,
  onHopeless,
}: {
  server: string;
  dataDirectory: string;
  onHopeless: (reason: string) => void;
}): Promise<OwnRedis> {
  const directory = await openFolder(join(dataDirectory, 'redis'));
  await endLeftover(directory);
  const reserve = keepReserve(directory);
  // The address is written, too.
  reserve.beforeStart();
  const address = await chooseOwnAddress(directory);
  await noteOwnAddress(directory, address);
  const [command, ...prefix] = endingWithUs(server);
  const options = serverOptions(directory, address);
  const start = (): ChildProcess => {
    reserve.beforeStart();
    void reserve.make();
    // Redis gets its own process group, so that Ctrl-C in a terminal does not reach it: it has to end last.
    return spawn(command, [...prefix, ...options], { detached: true, stdio: ['ignore', 2, 2] });
  };
  const child = superviseChild({
    name: 'redis',
    start,
    onHopeless: (reason) => {
      onHopeless(`${reason}, see ${join(directory, 'redis.log')}`);
    },
  });
  return { url: address.url, directory, child };
}

/** Makes the folder, or closes one to others that was open to them. */
async function openFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(path, 0o700).catch((error: unknown) => {
    // The folder belongs to somebody else, who let us use it.
    if (systemErrorCode(error) !== 'EPERM') throw error;
  });
  return realpath(path);
}

/** Ends a Redis that was left running on our data when its supervisor was killed. Two servers would corrupt the files. */
async function endLeftover(directory: string): Promise<void> {
  const url = await readOwnAddress(directory);
  if (url === null) return;
  for (let tries = 0; ; tries += 1) {
    try {
      await untilConnected(url);
      const { dir } = await withClient(url, (client) => client.configGet('dir'));
      if (dir !== directory) return;
      if (tries === 0) say('Ending the Redis that an earlier start left behind.');
      await withClient(url, (client) => client.sendCommand(['SHUTDOWN', 'NOSAVE']));
    } catch (error) {
      // Nothing listens there, or it is not our Redis.
      const code = systemErrorCode(error);
      if (code === 'ECONNREFUSED' || code === 'ENOENT' || tries >= 100) return;
    }
    await sleep(50);
  }
}

/** @throws when nothing listens there */
async function untilConnected(url: string): Promise<void> {
  const socket = connectTo(url);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** Enough to read an append-only file whose end is broken, and for a hundred thousand removals. */
const MAX_BYTES = 64 * 2 ** 20;
/** The part of a small disk that the reserve takes. */
const SHARE_OF_DISK = 1 / 16;
/** The part of the reserve below which Redis will end at one of its next writes, which may be of some megabytes. */
const NOTHING_LEFT = 1 / 4;
const LOOK_EVERY_MILLISECONDS = 60_000;

interface Reserve {
  /** Makes the file where it is missing or not whole, and there is room. Never rejects. */
  readonly make: () => Promise<void>;
  /** Gives the file up if the disk is full. Never throws. */
  readonly beforeStart: () => void;
}

/**
 * Keeps a file beside the data of Redis, which ends when it cannot write. When the disk is full, the file is given up, so
 * that Redis can start and documents can be deleted. Quire itself takes nothing more long before (`shared/disk/`), so that
 * this is for disks that somebody else has filled. A folder that cannot be looked at, for instance because it is gone, ends
 * nothing here.
 */
export function keepReserve(directory: string): Reserve {
  const path = join(directory, 'reserve');
  let isMaking = false;
  const make = async () => {
    if (isMaking) return;
    isMaking = true;
    try {
      const { free, reserve } = look(directory);
      // As much again has to stay free, so that the file does not take the room that Redis needs now.
      if (sizeOf(path) < reserve && free + sizeOf(path) > (2 + NOTHING_LEFT) * reserve)
        await writeWhole(path, reserve);
    } catch {
      giveUp(path);
    } finally {
      isMaking = false;
    }
  };
  setInterval(() => void make(), LOOK_EVERY_MILLISECONDS).unref();
  return {
    make,
    beforeStart: () => {
      try {
        const { free, reserve } = look(directory);
        if (free > NOTHING_LEFT * reserve || sizeOf(path) === 0) return;
      } catch {
        return;
      }
      if (giveUp(path))
        say(`The disk of ${directory} is full. Its reserve is given up, so that documents can be deleted.`);
    },
  };
}

function look(directory: string): { readonly free: number; readonly reserve: number } {
  const { bsize, blocks, bavail } = statfsSync(directory);
  return { free: bavail * bsize, reserve: Math.floor(Math.min(MAX_BYTES, SHARE_OF_DISK * blocks * bsize)) };
}

/** One that was being written when this process was killed is smaller than it should be. */
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function giveUp(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Bytes that no file system makes smaller. Other work goes on meanwhile, such as that on a signal to stop. */
async function writeWhole(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    const part = randomFillSync(Buffer.alloc(2 ** 20));
    for (let left = bytes; left > 0;)
      left -= (await file.write(part, 0, Math.min(left, part.length))).bytesWritten;
    await file.sync();
  } finally {
    await file.close();
  }
}
