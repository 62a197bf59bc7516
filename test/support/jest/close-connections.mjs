// The environment of tests of running services: as that of others, but after each file its services are given back and the
// connections of `fetch` are closed. A service that files share outlives them, and so would its connections, for which Jest
// would wait in vain at the end.
/* global fetch */
import EndingEnvironment from './environment.mjs';

/** The name under which Node keeps the pool of connections of `fetch`. */
const POOL = Symbol.for('undici.globalDispatcher.1');

export default class ClosingEnvironment extends EndingEnvironment {
  async teardown() {
    await super.teardown();
    const back = { ask: 'take back', worker: process.env.JEST_WORKER_ID ?? '1' };
    await fetch(process.env.QUIRE_TEST_SERVICES, { method: 'POST', body: JSON.stringify(back) });
    const pool = globalThis[POOL];
    if (pool === undefined) return;
    globalThis[POOL] = new pool.constructor();
    await pool.destroy();
  }
}
