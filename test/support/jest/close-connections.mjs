// The environment of tests of running services: as Jest's own, but after each file the connections of `fetch` are closed.
// A service that files share outlives them, and so would its connections, for which Jest would wait in vain at the end.
import { createRequire } from 'node:module';

// Jest's own, by the way of Jest: it is no dependency of ours.
const requireOfJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const requireOfCli = createRequire(requireOfJest.resolve('@jest/core'));
const requireOfConfig = createRequire(requireOfCli.resolve('jest-config'));
const { TestEnvironment } = requireOfConfig('jest-environment-node');

/** Where Node keeps what pools the connections of `fetch`. */
const POOL = Symbol.for('undici.globalDispatcher.1');

export default class ClosingEnvironment extends TestEnvironment {
  async teardown() {
    await super.teardown();
    const pool = globalThis[POOL];
    if (pool === undefined) return;
    globalThis[POOL] = new pool.constructor();
    await pool.destroy();
  }
}
