// Orders Jest's test files: the longest first, so that none of them is left over for one worker at the end; files that
// borrow services by the kind of service.
import { createRequire } from 'node:module';
import { groupByService } from './group-by-service.mjs';
import { secondsOfFiles } from './sort-tests.mjs';

// Jest's own, by the way of Jest: it is no dependency of ours.
const requireOfJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const requireOfCli = createRequire(requireOfJest.resolve('@jest/core'));
const { default: Sequencer } = requireOfCli('@jest/test-sequencer');

export default class LongestFirst extends Sequencer {
  sort(tests) {
    return groupByService(super.sort(tests), (test) => this.time(test));
  }

  /** Milliseconds that a file took the last time, or may take. */
  time(test) {
    return super.time(test) ?? 1_000 * secondsOf(test);
  }
}

/** Of a file that nobody has run here yet. */
function secondsOf({ path }) {
  return secondsOfFiles[path.replaceAll('\\', '/').split('/test/').at(-1)] ?? 1;
}
