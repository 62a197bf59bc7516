import { describe, expect, test } from '@jest/globals';
import { startQueryEngine } from '../support/query-engine-server.js';
import { describeWithQueryEngine } from '../support/query-engine.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { smallRedis } from './attackers/surroundings.js';
import { runChaos } from './run.js';

/** Other runs are other seeds: `npm run chaos -- --minutes 5 --seed 2`. */
const SEED = Number(process.env['QUIRE_TEST_CHAOS_SEED'] ?? '1');
const SECONDS = Number(process.env['QUIRE_TEST_CHAOS_SECONDS'] ?? '20');

/** The work that is left when all is quiet, and asking everything about every document, takes as long again and more. */
const TIMEOUT_MS = SECONDS * 1_000 + 1_200_000;

function keepsItsPromises(index: 'exact' | 'query-engine', start: () => Promise<TestRedis>): void {
  test(
    'every promise is kept while API, workers and Redis are killed, frozen and restarted, and callers attack',
    async () => {
      const redis = await start();
      try {
        const result = await runChaos({
          seed: SEED,
          seconds: SECONDS,
          redis,
          index,
          attackAfterSeconds: SECONDS / 2,
        });
        const { documents, requests, faults, report, violations } = result;
        console.info(`seed ${String(SEED)} on ${index}:`, JSON.stringify({ documents, requests, faults }));
        if (violations.length > 0) throw new Error(`seed ${String(SEED)}\n${report}`);
        // A run in which nothing happened has shown nothing.
        expect(documents).toBeGreaterThan(SECONDS / 3);
        expect(faults).toBeGreaterThan(SECONDS / 10);
      } finally {
        await redis.stop();
      }
    },
    TIMEOUT_MS,
  );
}

describe('on the exact index', () => {
  keepsItsPromises('exact', () => startTestRedis({ arguments: smallRedis('exact') }));
});

describeWithQueryEngine('chaos on the Query Engine', (engine) => {
  keepsItsPromises('query-engine', () => startQueryEngine(engine, { server: smallRedis('query-engine') }));
});
