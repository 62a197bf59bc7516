import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { freePort } from '../free-port.js';
import { urlOf, withClient } from './reach-redis.js';
import { superviseChild, type Child } from '../supervise-child.js';
import { keepReserve } from './reserve.js';
import { say } from '../user-messages.js';

/** Ends a Redis that was left running on our data when its supervisor was killed. Two servers would corrupt the files. */
async function endLeftover(portFile: string, directory: string): Promise<void> {
  let port: number;
  try {
    port = Number(await readFile(portFile, 'utf8'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  if (!Number.isInteger(port) || port <= 0) return;
  for (let tries = 0; ; tries += 1) {
    try {
      await untilConnected(port);
      const [, itsDirectory] = await withClient(urlOf(port), (client) =>
        client.sendCommand<[string, string]>(['CONFIG', 'GET', 'dir']),
      );
      if (itsDirectory !== directory) return;
      if (tries === 0) say('Ending the Redis that an earlier start left behind.');
      await withClient(urlOf(port), (client) => client.sendCommand(['SHUTDOWN', 'NOSAVE']));
    } catch (error) {
      // Nothing listens there, or it is not our Redis.
      if (systemErrorCode(error) === 'ECONNREFUSED' || tries >= 100) return;
    }
    await sleep(50);
  }
}

/** @throws when nothing listens there */
async function untilConnected(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** On Linux, Redis gets SIGTERM when this process dies for any reason. On other systems the next start ends it. */
function endingWithUs(server: string): readonly [string, ...string[]] {
  if (process.platform !== 'linux') return [server];
  const probe = spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true'], { stdio: 'ignore' });
  return probe.status === 0 ? ['setpriv', '--pdeathsig', 'TERM', server] : [server];
}

function serverOptions(port: number, directory: string): string[] {
  return [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--daemonize',
    'no',
    '--save',
    '',
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--maxmemory-policy',
    'noeviction',
    '--loglevel',
    'warning',
    '--logfile',
    'redis.log',
  ];
}

export interface OwnRedis {
  readonly url: string;
  /** The folder of its data. */
  readonly directory: string;
  readonly child: Child;
}

/**
 * Starts `server` as a child on a free loopback port, with its data in `<data folder>/redis`. Writes are appended to a file
 * and synced before each reply, and nothing is ever evicted.
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
  const folder = join(dataDirectory, 'redis');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const directory = await realpath(folder);
  const portFile = join(directory, 'port');
  await endLeftover(portFile, directory);
  const port = await freePort();
  await writeFile(portFile, String(port));
  const [command, ...prefix] = endingWithUs(server);
  const options = serverOptions(port, directory);
  const reserve = keepReserve(directory);
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
  return { url: urlOf(port), directory, child };
}
