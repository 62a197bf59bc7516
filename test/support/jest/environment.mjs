// Jest's own environment of tests, which ends with its file. Each file loads a Jest of its own, with an `AsyncLocalStorage`
// that Node keeps, and asks at each promise, as long as it is on: in a worker that has run a hundred files, a hundred of them
// for each promise, and all that the files had in memory.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';

// Jest's own, by the way of Jest: it is no dependency of ours.
const requireOfJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const requireOfCli = createRequire(requireOfJest.resolve('@jest/core'));
const requireOfConfig = createRequire(requireOfCli.resolve('jest-config'));
const { TestEnvironment } = requireOfConfig('jest-environment-node');

/** The storages that were used since the last file ended. */
const used = new Set();

const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function runNoted(...given) {
  used.add(this);
  return run.apply(this, given);
};

export default class EndingEnvironment extends TestEnvironment {
  async teardown() {
    await super.teardown();
    // One that is used again is on again.
    for (const storage of used) storage.disable();
    used.clear();
  }
}
