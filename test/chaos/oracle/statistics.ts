import type { Redis } from '../../../src/shared/redis/client.js';
import { statisticsDifferences } from '../../support/recount-statistics.js';
import type { Arena } from '../arena.js';

/** Checks that every owner's term statistics are the ones that counting their published chunks anew gives. */
export async function checkStatistics({ history }: Arena, redis: Redis): Promise<void> {
  const differences = await statisticsDifferences(redis);
  if (differences.length === 0) return;
  // The sums tell the most.
  const told = [...differences.filter((each) => / (?:chunks|length):/.test(each)), ...differences].slice(
    0,
    4,
  );
  history.violate(
    'term statistics are those of the chunks',
    `${told.join('; ')}; ${String(differences.length)} counts are wrong`,
  );
}
