import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { errorCode } from '../shared/error-code.js';
import { superviseChild, type Child } from './supervise-child.js';
import { say } from './user-messages.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function urlOf(port: number): string {
  return `redis://127.0.0.1:${String(port)}`;
}

function clientOf(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 2_000 } });
  // A failed connection rejects `connect`; the event only repeats it.
  client.on('error', () => undefined);
  return client;
}

async function withClient<Result>(
  url: string,
  use: (client: ReturnType<typeof clientOf>) => Promise<Result>,
): Promise<Result> {
  const client = clientOf(url);
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.destroy();
  }
}

/** Resolves when the Redis at `url` answers and has read its data; rejects with its last error after `patienceMs`. */
export async function untilRedisAnswers(url: string, patienceMs: number, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      await withClient(url, (client) => client.ping());
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50, undefined, { signal });
    }
  }
}

/** Ends the Redis that a supervisor which was killed has left on our data: two on the same files would ruin them. */
async function endLeftover(portFile: string, directory: string): Promise<void> {
  let port: number;
  try {
    port = Number(await readFile(portFile, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if (!Number.isInteger(port) || port <= 0) return;
  for (let tries = 0; ; tries += 1) {
    try {
      const [, itsDirectory] = await withClient(urlOf(port), (client) =>
        client.sendCommand<[string, string]>(['CONFIG', 'GET', 'dir']),
      );
      if (itsDirectory !== directory) return;
      if (tries === 0) say('Ending the Redis that an earlier start left behind.');
      await withClient(urlOf(port), (client) => client.sendCommand(['SHUTDOWN', 'NOSAVE']));
    } catch (error) {
      // Nobody listens (any more), or something that is no Redis of ours.
      if (errorCode(error) === 'ECONNREFUSED' || tries >= 100) return;
    }
    await sleep(50);
  }
}

/** Address of the Redis that a running service has started on our data; null where none answers. */
export async function findOwnRedis(dataDirectory: string): Promise<string | null> {
  try {
    const port = Number(await readFile(join(dataDirectory, 'redis', 'port'), 'utf8'));
    await withClient(urlOf(port), (client) => client.ping());
    return urlOf(port);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ECONNREFUSED') return null;
    throw error;
  }
}

/** On Linux Redis gets SIGTERM when we die, however we die; elsewhere the next start ends it. */
function dyingWithUs(server: string): readonly [string, ...string[]] {
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
  readonly child: Child;
}

/**
 * Starts `server` as a child on a free loopback port, with its data in `<data folder>/redis`: appended to a file and
 * fsynced before each answer, nothing ever evicted.
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
  const [command, ...prefix] = dyingWithUs(server);
  const options = serverOptions(port, directory);
  const start = (): ChildProcess =>
    // A group of its own: Ctrl-C in a terminal must reach Redis last, and through us.
    spawn(command, [...prefix, ...options], { detached: true, stdio: ['ignore', 2, 2] });
  const child = superviseChild({
    name: 'redis',
    start,
    onHopeless: (reason) => {
      onHopeless(`${reason}, see ${join(directory, 'redis.log')}`);
    },
  });
  return { url: urlOf(port), child };
}
