import { createLogger } from '../../src/shared/observability/logger.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { createWorkOffSet } from '../../src/workers/work-off-set.js';
import { createAggregateUsage, type AggregateUsage } from '../../src/workers/aggregate-usage.js';

/** Does the work of the usage worker; `onFailed` hears of each member that failed. */
export function aggregateUsage(redis: Redis, onFailed: () => void = () => undefined): AggregateUsage {
  const logger = createLogger({ level: 'silent', process: 'test' });
  const metrics = { add: onFailed, observe: () => undefined };
  return createAggregateUsage(redis, createWorkOffSet({ logger, metrics }));
}
