import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { superviseChild, type Child } from '../supervise-child.js';
import { say } from '../user-messages.js';
import { chooseOwnAddress, noteOwnAddress, readOwnAddress, type OwnAddress } from './own-address.js';
import { connectTo } from './ping.js';
import { withClient } from './reach-redis.js';
import { keepReserve } from './reserve.js';

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
      if (['ECONNREFUSED', 'ENOENT'].includes(systemErrorCode(error) ?? '') || tries >= 100) return;
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
