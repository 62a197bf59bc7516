import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_SECRET } from '../support/client.js';
import { freePort, type TestRedis } from '../support/redis.js';
import { inheritedEnvironment, startProcess, type StartedProcess } from '../support/service.js';
import type { History } from './history.js';

/** A process that is started again whenever it ends. */
export interface Member {
  readonly name: string;
  readonly url: string;
  readonly pid: () => number;
  /** Ends it as told, then leaves it down for a while. Nothing happens to one that is down already. */
  kill(signal: NodeJS.Signals, downMs: number): Promise<void>;
  /** Resolves once it serves after it was started again. */
  back(): Promise<void>;
  /** Signals that do not end it. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when the process that runs now is gone, at once when none does. */
  ended(): Promise<void>;
}

export interface Cluster {
  readonly redis: TestRedis;
  readonly dataDirectory: string;
  readonly apis: readonly Member[];
  readonly workers: readonly Member[];
  api(place: number): Member;
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly redis: TestRedis;
  readonly history: History;
  readonly env: Readonly<Record<string, string>>;
  /** A folder for everything but Redis, which stays; by default one of its own. */
  readonly dataDirectory?: string;
  /** Descriptors that each API may have; by default as many as this process has. */
  readonly descriptors?: number;
}

const WORKERS = ['ingestion,embedding,maintenance', 'ingestion,embedding,cache', 'cache,usage,maintenance'];

/** Two APIs and three workers over one Redis and one folder, in production mode with tokens. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { redis, history, env, descriptors } = options;
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'quire-chaos-')));
  const limits = descriptors === undefined ? {} : { descriptors };
  const base = {
    ...inheritedEnvironment(),
    REDIS_URL: redis.url,
    HOST: '127.0.0.1',
    QUIRE_DATA_DIR: dataDirectory,
    QUIRE_DEV_MODE: 'false',
    JWT_SECRET_KEY: TEST_SECRET,
    QUIRE_WORKERS_SWEEP_SECONDS: '1',
    QUIRE_WORKERS_LOCK_SECONDS: '2',
    QUIRE_INGEST_WAIT_SECONDS: '5',
    QUIRE_CHUNK_SIZE: '64',
    QUIRE_CHUNK_OVERLAP: '8',
    QUIRE_WORKERS_DRAIN_SECONDS: '5',
    QUIRE_WORKERS_KEEP_SOURCES_SECONDS: '3',
    ...env,
  };
  const ports = [await freePort(), await freePort()];
  const apis = ports.map((port, place) =>
    supervise({ name: `api ${String(place)}`, url: `http://127.0.0.1:${String(port)}`, history }, () =>
      startProcess('api/main.js', [], { env: { ...base, PORT: String(port) }, execArgv: [], ...limits }),
    ),
  );
  const workers = WORKERS.map((queues, place) =>
    supervise({ name: `worker ${String(place)}`, url: '', history }, () =>
      startProcess('workers/main.js', ['--queues', queues], { env: base, execArgv: [] }),
    ),
  );
  return {
    redis,
    dataDirectory,
    apis,
    workers,
    api: (place) => {
      const found = apis[place % apis.length];
      if (!found) throw new Error('no API');
      return found;
    },
    untilReady: async () => {
      for (const { url, name } of apis) await untilReady(url, name);
    },
    stop: async () => {
      await Promise.all([...apis, ...workers].map((member) => member.stop()));
      if (options.dataDirectory === undefined) await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string, name: string): Promise<void> {
  for (let tries = 0; tries < 3_600; tries += 1) {
    if (await isAnswered(`${url}/health/ready`)) return;
    await sleep(50);
  }
  throw new Error(`${name} did not become ready`);
}

async function isAnswered(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
  await response?.arrayBuffer().catch(() => null);
  return response?.status === 200;
}

const RESTART_MS = 200;
const MAX_BACK_TRIES = 300;

async function isServing(process: StartedProcess, url: string): Promise<boolean> {
  if (url === '') return process.output().includes('worker started');
  return isAnswered(`${url}/health/serving`);
}

function supervise(
  { name, url, history }: { readonly name: string; readonly url: string; readonly history: History },
  start: () => StartedProcess,
): Member & { stop(): Promise<void> } {
  let current: StartedProcess | null = null;
  let ended = Promise.resolve();
  let isOver = false;
  let isAsked = false;
  let downMs = RESTART_MS;
  let timer: NodeJS.Timeout | undefined;

  const run = () => {
    const started = start();
    current = started;
    isAsked = false;
    downMs = RESTART_MS;
    ended = new Promise((resolve) => started.child.once('exit', () => resolve()));
    started.child.once('exit', (code, signal) => {
      current = null;
      history.note(`${name} ended: ${signal ?? `code ${String(code)}`}`);
      if (!isAsked) {
        const said = started
          .output()
          .split('\n')
          // The words of a process at its end are no line of its log.
          .filter((line) => !line.startsWith('{'));
        history.violate(
          'no process ends that nobody ended',
          `${name} ended with ${signal ?? `code ${String(code)}`}: ${said.join('\n').slice(-1_500)}`,
        );
      }
      if (!isOver) timer = setTimeout(run, downMs);
    });
  };
  run();

  return {
    name,
    url,
    ended: () => ended,
    pid: () => current?.child.pid ?? 0,
    kill: async (signal, down) => {
      if (!current) return;
      isAsked = true;
      downMs = down;
      await current.kill(signal);
    },
    back: async () => {
      for (let tries = 0; tries < MAX_BACK_TRIES && !isOver; tries += 1) {
        if (current && (await isServing(current, url))) return;
        await sleep(100);
      }
    },
    signal: (signal) => {
      current?.child.kill(signal);
    },
    stop: async () => {
      isOver = true;
      isAsked = true;
      clearTimeout(timer);
      await current?.kill('SIGTERM');
    },
  };
}
