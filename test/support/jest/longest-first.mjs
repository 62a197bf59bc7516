// In which order Jest runs the test files: the longest first, so that none of them is left over for one worker at the end;
// those that borrow services by the kind of service.
import { createRequire } from 'node:module';
import { groupByService } from './group-by-service.mjs';

// Jest's own, by the way of Jest: it is no dependency of ours.
const requireOfJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const requireOfCli = createRequire(requireOfJest.resolve('@jest/core'));
const { default: Sequencer } = requireOfCli('@jest/test-sequencer');

/** Where nobody has run them yet: seconds that files of a project take, and those that take far more. */
const SECONDS = { pure: 1, redis: 3, long: 12, e2e: 10 };
const LONGEST = {
  'chaos/chaos.test.ts': 100,
  'hostile/hostile.test.ts': 100,
  'cli/up.test.ts': 60,
  'e2e/crashes.test.ts': 60,
  'e2e/loading.test.ts': 60,
  'e2e/memory.test.ts': 60,
  'e2e/rolling-restart.test.ts': 60,
  'e2e/slow-readers.test.ts': 60,
  'e2e/storage-places.test.ts': 60,
  'e2e/blocking-many.test.ts': 30,
  'e2e/blocking.test.ts': 30,
  'e2e/budgets.test.ts': 30,
  'e2e/operations.test.ts': 30,
  'e2e/ranking.test.ts': 30,
  'e2e/usage-streams.test.ts': 30,
  'generated/generated-requests.test.ts': 60,
  'api/header-budgets.test.ts': 30,
  'api/large-json.test.ts': 30,
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
  return LONGEST[name] ?? SECONDS[context.config.displayName?.name] ?? 1;
}
