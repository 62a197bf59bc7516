// The environment of tests of running services: as that of others, but after each file the connections of `fetch` are closed.
// A service that files share outlives them, and so would its connections, for which Jest would wait in vain at the end.
import EndingEnvironment from './environment.mjs';

/** Where Node keeps what pools the connections of `fetch`. */
const POOL = Symbol.for('undici.globalDispatcher.1');

export default class ClosingEnvironment extends EndingEnvironment {
  async teardown() {
    await super.teardown();
    const pool = globalThis[POOL];
    if (pool === undefined) return;
    globalThis[POOL] = new pool.constructor();
    await pool.destroy();
  }
}
