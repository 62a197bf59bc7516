import { findQueryEngine, startQueryEngine } from '../query-engine-server.js';
import { startService, type Service, type StartedProcess } from '../service.js';
import { METERED } from '../turns.js';
import type { LentService, WantedService } from './messages.js';
import { startRelay } from './relay.js';

/** A service of the keeper, and what belongs to it. */
export interface Running {
  readonly service: Service;
  /** Tells whether all its processes are there. */
  isWhole(): boolean;
  /** Sets the one who answers in place of its provider, if it has one; null: nobody. */
  setProvider(url: string | null): void;
  describe(): Omit<LentService, 'id' | 'number'>;
  stop(): Promise<void>;
}

/** @param providerUrl who answers in place of its provider from the start on, since an index may ask it for dimensions */
export async function startRunning(
  { env, onQueryEngine, providedBy }: WantedService,
  providerUrl: string | null,
): Promise<Running> {
  const relay = providedBy === null ? null : await startRelay();
  relay?.setTarget(providerUrl);
  const provided = providedBy !== null && relay ? { [providedBy]: `${relay.url}/v1` } : {};
  const index = onQueryEngine ? 'query-engine' : 'exact';
  const redis = onQueryEngine ? await startEngine() : null;
  const service = await startService({
    ...(redis && { redis }),
    env: { QUIRE_INDEX: index, ...env, ...provided },
    execArgv: METERED,
  });
  return {
    service,
    isWhole: () => [service.api, ...service.workers].every(isRunning),
    setProvider: (url) => relay?.setTarget(url),
    describe: () => describeService(service),
    stop: async () => {
      await service.stop();
      await Promise.all([redis?.stop(), relay?.stop()]);
    },
  };
}

function startEngine() {
  const engine = findQueryEngine();
  if (!engine) throw new Error('no Query Engine');
  return startQueryEngine(engine);
}

const isRunning = ({ child }: StartedProcess) => child.exitCode === null && child.signalCode === null;

const pidOf = ({ child }: StartedProcess) => child.pid ?? 0;

function describeService(service: Service): Omit<LentService, 'id' | 'number'> {
  return {
    url: service.url,
    redisUrl: service.redis.url,
    dataDirectory: service.dataDirectory,
    apiPid: pidOf(service.api),
    workerPids: service.workers.map(pidOf),
  };
}
