import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { noteOwnAddress } from '../../../src/cli/redis/own-address.js';
import { startOwnRedis, type OwnRedis } from '../../../src/cli/redis/own-redis.js';
import { findOwnRedis, untilRedisAnswers, withClient } from '../../../src/cli/redis/reach-redis.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { bullConnection, createRedis, toUnavailable } from '../../../src/shared/redis/client.js';
import { socketUrlOf } from '../../../src/shared/redis/socket-url.js';
import { freePort } from '../../support/redis.js';
import { rejection } from '../../support/rejection.js';

const server = process.env['QUIRE_TEST_REDIS_SERVER'] ?? 'redis-server';
const never = new AbortController().signal;
let parent: string;
let own: OwnRedis | undefined;
let leftover: ChildProcess | undefined;

beforeEach(async () => {
  parent = await realpath(await mkdtemp(join(tmpdir(), 'quire-own-')));
  // Others may look into the folders above, as they may into those of most data folders.
  await chmod(parent, 0o755);
});
afterEach(async () => {
  await own?.child.stop(3_000);
  own = undefined;
  leftover?.kill('SIGKILL');
  await rm(parent, { recursive: true, force: true });
});

async function start(dataDirectory = parent): Promise<OwnRedis> {
  own = await startOwnRedis({ server, dataDirectory, onHopeless: () => undefined });
  await untilRedisAnswers(own.url, 20_000, never);
  return own;
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const ask = (url: string, ...command: string[]) => withClient(url, (client) => client.sendCommand(command));
/** The arguments of all processes. */
async function allArguments(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(commands)).join('\n');
}

/** The result of connecting as another user, who is in no group of ours. */
function connectAsNobody(path: string): string {
  const script = `require('net').connect(${JSON.stringify(path)})
    .on('connect', () => { console.log('in'); process.exit(); }).on('error', (error) => console.log(error.code))`;
  const user = { uid: 65_534, gid: 65_534, cwd: '/' };
  return spawnSync(process.execPath, ['-e', script], { ...user, encoding: 'utf8' }).stdout.trim();
}

describe('the Redis that Quire starts', () => {
  test('listens on no port, and on a socket that is for its user alone', async () => {
    const { url, directory } = await start();
    expect(url).toBe(socketUrlOf(join(directory, 'redis.sock')));
    expect(await withClient(url, (client) => client.configGet('port'))).toEqual({ port: '0' });
    expect(await modeOf(directory)).toBe('700');
    expect(await modeOf(join(directory, 'redis.sock'))).toBe('700');
    expect(await modeOf(join(directory, 'address'))).toBe('600');
    expect(await findOwnRedis(parent)).toBe(url);
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot('lets no other user in, not even where its folder was opened to all', async () => {
    const { directory } = await start();
    const path = join(directory, 'redis.sock');
    expect(connectAsNobody(path)).toBe('EACCES');
    await chmod(directory, 0o755);
    expect(connectAsNobody(path)).toBe('EACCES');
    // It can get in where it may: what refuses it is the mode alone.
    await chmod(path, 0o777);
    expect(connectAsNobody(path)).toBe('in');
  });

  test('serves both clients over its socket, and is away for them when it is stopped', async () => {
    const { url, child } = await start(join(parent, 'ein Ordner, 100 %'));
    const redis = createRedis(url, { failFast: true, onError: () => undefined });
    const queue = new Queue('some', { connection: bullConnection(url, { failFast: true }) });
    queue.on('error', () => undefined);
    await redis.connect();
    await redis.set('a', 'b');
    const { id = '' } = await queue.add('job', {});
    expect(await queue.getJob(id)).toMatchObject({ name: 'job' });
    await queue.close();
    await child.stop(3_000);
    expect(toUnavailable(await rejection(redis.get('a')))).toBeInstanceOf(UnavailableError);
    const late = createRedis(url, { failFast: true, onError: () => undefined });
    const refused = new Promise<unknown>((resolve) => late.on('error', resolve));
    void late.connect().catch(() => undefined);
    expect(toUnavailable(await refused)).toBeInstanceOf(UnavailableError);
    for (const client of [redis, late]) client.destroy();
  });

  test('asks for a password that nobody else can read where no socket is possible', async () => {
    const { url, directory } = await start(join(parent, 'a'.repeat(60), 'b'.repeat(60)));
    const { hostname, port, password } = new URL(url);
    expect([hostname, password.length]).toEqual(['127.0.0.1', 64]);
    const withoutPassword = `redis://127.0.0.1:${port}`;
    expect(String(await rejection(ask(withoutPassword, 'GET', 'a')))).toContain('NOAUTH');
    expect(await ask(url, 'PING')).toBe('PONG');
    for (const file of ['address', 'redis.conf']) expect(await modeOf(join(directory, file))).toBe('600');
    const seen = await allArguments();
    expect(seen).toContain(`:${port}`);
    expect(seen).not.toContain(password);
    expect(await findOwnRedis(join(parent, 'a'.repeat(60), 'b'.repeat(60)))).toBe(url);
  });

  test('takes over the folder of an earlier version, which was open to others and named a port', async () => {
    const first = await start();
    await ask(first.url, 'SET', 'a', 'kept');
    await first.child.stop(3_000);
    const { directory } = first;
    await chmod(directory, 0o755);
    await rm(join(directory, 'address'));
    await writeFile(join(directory, 'port'), '1');
    const { url } = await start();
    expect(await ask(url, 'GET', 'a')).toBe('kept');
    expect(await modeOf(directory)).toBe('700');
    expect(await readdir(directory)).not.toContain('port');
  });

  test.each([
    [
      'on its socket',
      (path: string) => ({ url: socketUrlOf(path), options: ['--port', '0', '--unixsocket', path] }),
    ],
    ['on a port, by an earlier version', () => null],
  ])('first ends one that was left behind %s', async (_where, addressIn) => {
    const directory = join(parent, 'redis');
    await mkdir(directory);
    const address = addressIn(join(directory, 'redis.sock'));
    const port = String(await freePort());
    const args = address?.options ?? ['--port', port, '--bind', '127.0.0.1'];
    leftover = spawn(server, [...args, '--dir', directory, '--save', '', '--appendonly', 'yes'], {
      stdio: 'ignore',
    });
    const ended = once(leftover, 'exit');
    if (address) await noteOwnAddress(directory, address);
    else await writeFile(join(directory, 'port'), port);
    const itsUrl = address?.url ?? `redis://127.0.0.1:${port}`;
    await untilRedisAnswers(itsUrl, 20_000, never);
    await ask(itsUrl, 'SET', 'a', 'kept');
    const { url } = await start();
    await ended;
    expect(await ask(url, 'GET', 'a')).toBe('kept');
  });

  test('is not found when none runs', async () => {
    expect(await findOwnRedis(parent)).toBeNull();
    const { child } = await start();
    await child.stop(3_000);
    expect(await findOwnRedis(parent)).toBeNull();
  });
});
