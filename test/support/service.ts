import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_SECRET } from './client.js';
import { freePort, startTestRedis, type TestRedis } from './redis.js';

const distribution = new URL('../../dist/', import.meta.url);

export interface StartedProcess {
  readonly child: ChildProcess;
  /** Everything it logged so far. */
  output(): string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface ServiceOptions {
  /** Queues of each worker process; one process for all of them by default. */
  readonly workers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options of node itself, e.g. for profiling. */
  readonly execArgv?: readonly string[];
  /** Descriptors of files and connections that the API process may have; by default what this process may have. */
  readonly apiDescriptors?: number;
  /** An existing Redis to use; stopping the service leaves it running. */
  readonly redis?: TestRedis;
  readonly dataDirectory?: string;
}

export interface Service {
  readonly url: string;
  readonly redis: TestRedis;
  readonly dataDirectory: string;
  readonly api: StartedProcess;
  readonly workers: StartedProcess[];
  startApi(env?: Readonly<Record<string, string>>): Promise<void>;
  /** `env` may set this one otherwise than the others. */
  startWorker(queues?: string, env?: Readonly<Record<string, string>>): StartedProcess;
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

const ALL_QUEUES = 'ingestion,embedding,cache,usage,maintenance';

/** The real thing: a Redis, an API process and worker processes, in dev mode on a port of their own. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const redis = options.redis ?? (await startTestRedis());
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'quire-data-')));
  const port = await freePort();
  const env = {
    ...inheritedEnvironment(),
    REDIS_URL: redis.url,
    PORT: String(port),
    HOST: '127.0.0.1',
    QUIRE_DATA_DIR: dataDirectory,
    QUIRE_DEV_MODE: 'true',
    QUIRE_LOG_LEVEL: 'info',
    // Providers of tests count their requests.
    QUIRE_API_PROBE_MODELS: 'false',
    QUIRE_WORKERS_SWEEP_SECONDS: '1',
    QUIRE_WORKERS_LOCK_SECONDS: '2',
    QUIRE_WORKERS_KEEP_SOURCES_SECONDS: '1',
    JWT_SECRET_KEY: TEST_SECRET,
    ...options.env,
  };
  const { execArgv = [], apiDescriptors } = options;
  const url = `http://127.0.0.1:${String(port)}`;
  const startNewApi = (more: Readonly<Record<string, string>> = {}) =>
    startProcess('api/main.js', [], {
      env: { ...env, ...more },
      execArgv,
      ...(apiDescriptors !== undefined && { descriptors: apiDescriptors }),
    });
  let api = startNewApi();
  const startWorker = (queues = ALL_QUEUES, more: Readonly<Record<string, string>> = {}) => {
    const start = { env: { ...env, ...more }, execArgv };
    const worker = startProcess('workers/main.js', ['--queues', queues], start);
    workers.push(worker);
    return worker;
  };
  const workers: StartedProcess[] = [];
  for (const queues of options.workers ?? [ALL_QUEUES]) startWorker(queues);

  const untilReady = async () => {
    for (let tries = 0; tries < 1_800; tries += 1) {
      const response = await fetch(`${url}/health/ready`).catch(() => null);
      if (response?.status === 200) return;
      // One that ended by itself will not become ready.
      if (api.child.exitCode !== null) break;
      await sleep(50);
    }
    const logs = [api, ...workers].map((each) => each.output().slice(-3_000)).join('\n---\n');
    throw new Error(`the service did not become ready:\n${logs}`);
  };

  const service: Service = {
    url,
    redis,
    dataDirectory,
    get api() {
      return api;
    },
    workers,
    startApi: async (more) => {
      await api.kill('SIGKILL');
      api = startNewApi(more);
    },
    startWorker,
    untilReady,
    stop: async () => {
      await Promise.all([api, ...workers].map((each) => each.kill('SIGTERM')));
      if (!options.redis) await redis.stop();
      if (options.dataDirectory === undefined) await rm(dataDirectory, { recursive: true, force: true });
    },
  };
  try {
    await untilReady();
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}

/** The environment of the tests without settings that a developer may have made for himself. */
export function inheritedEnvironment(): Record<string, string | undefined> {
  const own =
    /^(QUIRE_(?!TEST_)|JWT_|OPENAI_|OTEL_|LANGSMITH_|LANGCHAIN_|REDIS_URL|LOCAL_URI|PORT$|HOST$|NODE_OPTIONS$)/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))),
    // No settings file: what a test says is all there is.
    QUIRE_CONFIG: '/dev/null',
  };
}

interface Start {
  readonly env: Record<string, string | undefined>;
  readonly execArgv: readonly string[];
  readonly descriptors?: number;
}

/** Options of `fork` for a process that may have only so many descriptors: a shell becomes it. */
const limited = (descriptors: number, execArgv: readonly string[]) => ({
  execPath: '/bin/sh',
  execArgv: ['-c', `ulimit -n ${String(descriptors)} && exec "$0" "$@"`, process.execPath, ...execArgv],
});

/** One of our processes, by its file in `dist/`; ended by `kill`. */
export function startProcess(
  file: string,
  args: string[],
  { env, execArgv, descriptors }: Start,
): StartedProcess {
  const child = fork(new URL(file, distribution), args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [...execArgv],
    ...(descriptors !== undefined && limited(descriptors, execArgv)),
  });
  const parts: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => parts.push(part));
  }
  return {
    child,
    output: () => parts.join(''),
    kill: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), 35_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
