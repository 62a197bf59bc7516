import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Environment } from './executables.js';
import { superviseChild, type Child } from './supervise-child.js';
import { findOrInstallRedisServer } from './redis/find-redis.js';
import { lockDataDirectory } from './locks.js';
import { startOwnRedis } from './redis/own-redis.js';
import { untilRedisAnswers } from './redis/reach-redis.js';
import { assertPortIsFree } from './free-port.js';
import { addressOf, untilReady, welcome } from './readiness.js';
import { say, UserError } from './user-messages.js';
import { mendServicePolicy } from './service-policy.js';
import {
  readSupervisorSettings,
  type SupervisorSettings,
} from './supervisor-settings/supervisor-settings.js';

/** Queues that do nothing most of the time: one process for them takes a hundred megabytes less than two. */
const OTHER_QUEUES = 'embedding,cache,usage,maintenance';

interface ServiceProcess {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
}

/** The processes of the service. When this process dies, their IPC channel closes, and they stop. */
const processes = [
  { name: 'api', script: '../api/main.js', args: [] },
  { name: 'worker-ingestion', script: '../workers/main.js', args: ['--queues', 'ingestion'] },
  { name: 'worker-others', script: '../workers/main.js', args: ['--queues', OTHER_QUEUES] },
] as const satisfies readonly ServiceProcess[];

/** The process that is started where a setting names a local model. */
const modelsProcess: ServiceProcess = { name: 'models', script: '../models/main.js', args: [] };

/**
 * V8 lets the space for new objects grow to three times 16 MB in each process while its code is loaded, and hardly ever makes
 * it smaller again. With a quarter of that, searches and ingests take no more of the processor (bench/results/measurements.md).
 */
const SEMI_SPACE = '--max-semi-space-size=4';

/** The time beyond `workers.drain_seconds` that a process may take to stop. After that it is killed. */
const afterDrainingMs = 4_000;
const redisPatienceMs = 3_000;

/** A Ctrl-C arrives twice, from npm and from the terminal. A second one within this time is ignored. */
const echoMs = 1_000;

interface Stop {
  readonly signal: AbortSignal;
  /** Returns the problem that made the service stop; null when the user has stopped it. */
  readonly trouble: () => string | null;
  readonly ask: (trouble: string) => void;
}

/** Listens for signals to stop. `onSecond` is called when another one comes. */
function listenForStop(onSecond: () => void): Stop {
  const controller = new AbortController();
  let trouble: string | null = null;
  let askedAt = 0;
  const ask = (reason: string | null) => {
    if (controller.signal.aborted) return;
    trouble = reason;
    askedAt = Date.now();
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        say('stopping (again to stop at once)');
        ask(null);
      } else if (Date.now() - askedAt > echoMs) {
        onSecond();
      }
    });
  }
  return { signal: controller.signal, trouble: () => trouble, ask };
}

function startProcesses(
  started: readonly ServiceProcess[],
  env: Environment,
  onHopeless: (reason: string) => void,
): Child[] {
  return started.map(({ name, script, args }) => {
    const path = fileURLToPath(new URL(script, import.meta.url));
    return superviseChild({
      name,
      isForEver: true,
      onHopeless,
      // The child gets its own process group, so that Ctrl-C in a terminal reaches it only through us.
      start: () =>
        fork(path, [...args], {
          detached: true,
          env: { ...env },
          stdio: ['ignore', 1, 2, 'ipc'],
          execArgv: [...process.execArgv, SEMI_SPACE],
        }),
    });
  });
}

interface Running {
  readonly services: Child[];
  readonly redis: Child[];
}

/** Starts Redis, or waits for the Redis of the settings. Resolves with the variables by which processes find it. */
async function startRedis(
  settings: SupervisorSettings,
  env: Environment,
  stop: Stop,
  running: Running,
): Promise<Environment> {
  if (settings.redisUrl !== '') {
    await untilRedisAnswers(settings.redisUrl, 5_000, stop.signal).catch((error: unknown) => {
      if (stop.signal.aborted) throw error;
      throw new UserError('The Redis of REDIS_URL (redis.url) does not answer.', { cause: error });
    });
    return { REDIS_URL: settings.redisUrl };
  }
  const server = findOrInstallRedisServer(env);
  const own = await startOwnRedis({ server, dataDirectory: settings.dataDirectory, onHopeless: stop.ask });
  running.redis.push(own.child);
  // Loading a large data set may take long. If Redis fails to load it, `onHopeless` ends the wait.
  await untilRedisAnswers(own.url, 3_600_000, stop.signal);
  return { REDIS_URL: own.url, QUIRE_REDIS_DIRECTORY: own.directory };
}

async function stopAll({ services, redis }: Running, drainSeconds: number): Promise<void> {
  const patienceMs = drainSeconds * 1_000 + afterDrainingMs;
  await Promise.all(services.map((child) => child.stop(patienceMs)));
  await Promise.all(redis.map((child) => child.stop(redisPatienceMs)));
}

/** Others on this host must not use the local models, whose saved states hold texts of documents. */
function modelsVariables({ models }: SupervisorSettings): Environment {
  if (!models) return {};
  return { QUIRE_MODELS_TOKEN: models.token === '' ? randomBytes(24).toString('hex') : models.token };
}

/**
 * Runs the whole service until it is stopped: the API, the workers and, if none is configured, a Redis.
 * @throws UserError when it cannot start or has to stop
 */
export async function up(env: Environment): Promise<void> {
  const settings = await readSupervisorSettings(env);
  await assertPortIsFree(settings.host, settings.port);
  await lockDataDirectory(settings.dataDirectory, settings);
  mendServicePolicy();

  const running: Running = { services: [], redis: [] };
  const stop = listenForStop(() => {
    for (const child of [...running.services, ...running.redis]) child.kill();
    process.exit(130);
  });
  try {
    const redis = await startRedis(settings, env, stop, running);
    const { QUIRE_REDIS_URL: _, ...others } = env;
    const own = { ...others, ...modelsVariables(settings), ...redis };
    const started = settings.models ? [modelsProcess, ...processes] : processes;
    running.services.push(...startProcesses(started, own, stop.ask));
    const address = addressOf(settings);
    await untilReady(address, stop.signal);
    process.stdout.write(`${welcome(address, settings)}\n`);
    if (!stop.signal.aborted) await once(stop.signal, 'abort');
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    await stopAll(running, settings.drainSeconds);
  }
  const trouble = stop.trouble();
  if (trouble !== null) throw new UserError(`${trouble}; Quire has stopped`);
}
