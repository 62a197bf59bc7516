import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Kills the server without letting it save; `start` brings it back with what it had answered. */
  crash(): Promise<void>;
  /** @param until `answering`: it may still be loading its data */
  start(until?: 'loaded' | 'answering'): Promise<void>;
  /** A copy of what is on its disk now, as a server that loses its last seconds would find it: `putBack` after `crash`. */
  copyData(): Promise<RedisCopy>;
  stop(): Promise<void>;
}

export interface RedisCopy {
  /** The stopped server's data is this copy from now on. */
  putBack(): Promise<void>;
  discard(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * A throw-away Redis of its own, append-only as the one that Quire starts. It leaves it to the system when the disk has
 * what it wrote: a killed server has handed that over all the same.
 *
 * @param program another server and further arguments for it
 */
export async function startTestRedis(
  program: { readonly server?: string; readonly arguments?: readonly string[] } = {},
): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'quire-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${String(port)}`;
  const run = async (wanted: 'loaded' | 'answering' = 'loaded') => {
    const child = spawn(
      program.server ?? process.env['QUIRE_TEST_REDIS_SERVER'] ?? 'redis-server',
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        directory,
        '--save',
        '',
        '--appendonly',
        'yes',
        '--appendfsync',
        'no',
        '--maxmemory-policy',
        'noeviction',
        ...(program.arguments ?? []),
      ],
      { stdio: 'ignore' },
    );
    await untilAnswers(url, wanted);
    return child;
  };
  let child = await run();
  const kill = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    url,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    crash: () => kill('SIGKILL'),
    start: async (wanted) => {
      child = await run(wanted);
    },
    copyData: async () => {
      const copy = await mkdtemp(join(tmpdir(), 'quire-redis-copy-'));
      await cp(directory, copy, { recursive: true });
      return {
        putBack: async () => {
          await rm(directory, { recursive: true });
          await cp(copy, directory, { recursive: true });
        },
        discard: () => rm(copy, { recursive: true, force: true }),
      };
    },
    stop: async () => {
      await kill('SIGTERM');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Waits until a server that was just started answers. */
export async function untilAnswers(url: string, wanted: 'loaded' | 'answering'): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.ping();
      return;
    } catch (error) {
      if (wanted === 'answering' && error instanceof Error && error.message.startsWith('LOADING')) return;
      if (tries >= 1_200) throw error;
      await sleep(25);
    } finally {
      client.destroy();
    }
  }
}
