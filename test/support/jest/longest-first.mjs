// Orders Jest's test files: the longest first, so that none of them is left over for one worker at the end; files that
// borrow services by the kind of service.
import { createRequire } from 'node:module';
import { groupByService } from './group-by-service.mjs';

// Jest's own, by the way of Jest: it is no dependency of ours.
const requireOfJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const requireOfCli = createRequire(requireOfJest.resolve('@jest/core'));
const { default: Sequencer } = requireOfCli('@jest/test-sequencer');

/** The seconds of files that nobody has run yet, by project, and of the files that take far more. */
const SECONDS = { pure: 1, redis: 3, long: 12, e2e: 10 };
const MAX_LENGTH = {
  'hostile/hostile.test.ts': 130,
  'chaos/chaos.test.ts': 45,
  'e2e/slow-readers.test.ts': 45,
  'e2e/storage-places.test.ts': 40,
  'shared/adapters/exact-index/recall.test.ts': 35,
  // Its worker must not hold much of other files yet.
  'index/memory-of-index.test.ts': 35,
  'cli/up.test.ts': 35,
  'e2e/memory.test.ts': 35,
  'e2e/operations.test.ts': 35,
  'e2e/rolling-restart.test.ts': 35,
  'e2e/usage-streams.test.ts': 35,
  'generated/generated-requests.test.ts': 60,
  'e2e/reindex.test.ts': 25,
  'e2e/crashes.test.ts': 25,
  'shared/patterns.test.ts': 25,
  'workers/parse/pool.test.ts': 25,
  'api/parser-budgets.test.ts': 25,
  'e2e/providers.test.ts': 25,
  'e2e/blocking.test.ts': 20,
  'e2e/blocking-many.test.ts': 20,
  'shared/storage/marker.test.ts': 20,
  'workers/interrupted.test.ts': 20,
};

export default class LongestFirst extends Sequencer {
  sort(tests) {
    return groupByService(super.sort(tests), (test) => this.time(test));
  }

  /** Milliseconds that a file took the last time, or may take. */
  time(test) {
    return super.time(test) ?? 1_000 * secondsOf(test);
  }
}

function secondsOf({ path, context }) {
  const name = path.replaceAll('\\', '/').split('/test/').at(-1);
  return MAX_LENGTH[name] ?? SECONDS[context.config.displayName?.name] ?? 1;
}
