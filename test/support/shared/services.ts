import { findQueryEngine, startQueryEngine } from '../query-engine-server.js';
import { startService, type Service, type StartedProcess } from '../service.js';
import { METERED, longestTurn } from '../turns.js';
import type { LentService, WantedService } from './messages.js';

/** How many running services one Jest worker keeps. Each takes some 400 MB, and a little of a processor while it is idle. */
const MAX_KEPT = 2;

interface Kept {
  readonly service: Service;
  readonly stop: () => Promise<void>;
}

/**
 * Services that are running, by the Jest worker that uses them and the settings that they were started with. A worker runs
 * one test file at a time, so that a service has one file at a time, too.
 */
export function createServices() {
  const kept = new Map<string, Map<string, Promise<Kept>>>();
  let lent = 0;

  /** A running service with the wanted settings: the one from before where it is still whole, else a new one. */
  async function lend(worker: string, wanted: WantedService): Promise<LentService> {
    const own = kept.get(worker) ?? new Map<string, Promise<Kept>>();
    kept.set(worker, own);
    const name = nameOf(wanted);
    const before = await own.get(name)?.catch(() => null);
    if (before && !isWhole(before.service)) {
      own.delete(name);
      await before.stop();
    }
    const starting = own.get(name) ?? start(wanted);
    // The one that was used last is the last to be stopped.
    own.delete(name);
    own.set(name, starting);
    const [oldest] = own.size > MAX_KEPT ? own : [];
    if (oldest) {
      own.delete(oldest[0]);
      await (await oldest[1]).stop();
    }
    try {
      return describeService((await starting).service, `${worker}/${name}`, (lent += 1));
    } catch (error) {
      own.delete(name);
      throw error;
    }
  }

  async function find(id: string): Promise<Service> {
    const [worker = '', ...name] = id.split('/');
    const found = await kept.get(worker)?.get(name.join('/'));
    if (!found) throw new Error(`no service ${id}`);
    return found.service;
  }

  return {
    lend,
    /** What its processes have logged. */
    output: async (id: string) => {
      const { api, workers } = await find(id);
      return { api: api.output(), workers: workers.map((each) => each.output()) };
    },
    /** As `longestTurn` of its API. */
    longestTurn: async (id: string) => longestTurn((await find(id)).api),
    stop: async () => {
      const all = [...kept.values()].flatMap((own) => [...own.values()]);
      kept.clear();
      // One that never came up has stopped itself.
      await Promise.allSettled(all.map(async (each) => (await each).stop()));
    },
  };
}

const nameOf = ({ env, onQueryEngine }: WantedService) =>
  JSON.stringify([onQueryEngine, Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))]);

async function start({ env, onQueryEngine }: WantedService): Promise<Kept> {
  if (!onQueryEngine) {
    const service = await startService({ env: { QUIRE_INDEX: 'exact', ...env }, execArgv: METERED });
    return { service, stop: () => service.stop() };
  }
  const engine = findQueryEngine();
  if (!engine) throw new Error('no Query Engine');
  const redis = await startQueryEngine(engine);
  const service = await startService({
    redis,
    env: { QUIRE_INDEX: 'query-engine', ...env },
    execArgv: METERED,
  });
  return {
    service,
    stop: async () => {
      await service.stop();
      await redis.stop();
    },
  };
}

const isRunning = ({ child }: StartedProcess) => child.exitCode === null && child.signalCode === null;
const isWhole = ({ api, workers }: Service) => [api, ...workers].every(isRunning);

const pidOf = ({ child }: StartedProcess) => child.pid ?? 0;

function describeService(service: Service, id: string, number: number): LentService {
  return {
    id,
    number,
    url: service.url,
    redisUrl: service.redis.url,
    dataDirectory: service.dataDirectory,
    apiPid: pidOf(service.api),
    workerPids: service.workers.map(pidOf),
  };
}
