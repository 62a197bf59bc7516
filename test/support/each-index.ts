import { describe } from '@jest/globals';
import { startQueryEngine } from './query-engine-server.js';
import { describeWithQueryEngine } from './query-engine.js';
import { startService, type Service, type ServiceOptions } from './service.js';
import { EVERYDAY } from './shared/environments.js';
import { useService, type SharedService } from './shared/use-service.js';

export type StartService = (options?: Omit<ServiceOptions, 'redis'>) => Promise<Service>;

/** Tests of the service that are run on the exact index, and on the Query Engine where there is one. */
export function describeOnEachIndex(tests: (start: StartService, index: string) => void): void {
  describe('on the exact index', () => {
    tests((options) => startService({ ...options, env: { QUIRE_INDEX: 'exact', ...options?.env } }), 'exact');
  });
  describeWithQueryEngine('on the Query Engine', (engine) => {
    tests(async (options) => {
      const redis = await startQueryEngine(engine);
      const env = { QUIRE_INDEX: 'query-engine', ...options?.env };
      const service = await startService({ ...options, redis, env });
      const stop = service.stop.bind(service);
      return Object.assign(service, {
        stop: async () => {
          await stop();
          await redis.stop();
        },
      });
    }, 'query-engine');
  });
}

/** The same with services that files share. */
export function describeOnEachSharedIndex(tests: (service: SharedService) => void): void {
  describe('on the exact index', () => {
    tests(useService({ env: EVERYDAY }));
  });
  describeWithQueryEngine('on the Query Engine', () => {
    tests(useService({ env: EVERYDAY, onQueryEngine: true }));
  });
}
