import type { TestRedis } from '../support/redis.js';
import type { Actor, Arena } from './arena.js';
import { play } from './caller.js';
import { startCluster } from './cluster.js';
import { createExchange } from './exchange.js';
import { letHappen, planFaults } from './faults.js';
import { createHistory, type Violation } from './history.js';
import { createLedger } from './ledger.js';
import { checkMessages, isOfMail, removeMessages } from './mails/check-messages.js';
import { createPostOffice, POSTMASTER, runPostOffice, type PostOffice } from './mails/post-office.js';
import { checkDocuments } from './oracle/documents.js';
import { checkEmptied } from './oracle/emptied.js';
import { checkLeftovers } from './oracle/leftovers.js';
import { checkLists } from './oracle/lists.js';
import { adoptLost, readAllRecords } from './oracle/records.js';
import { checkStatistics } from './oracle/statistics.js';
import { checkUsage } from './oracle/usage.js';
import { createRandom } from './random.js';
import { describeTalk, describeViolations } from './report.js';
import { settleAll } from './settle.js';
import { withRedis } from './with-redis.js';
import { createWorld } from './world.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly redis: TestRedis;
  readonly index: 'exact' | 'query-engine';
}

export interface ChaosResult {
  readonly violations: readonly Violation[];
  /** The first violation with its history. */
  readonly report: string;
  /** What was done and how it was answered. */
  readonly talk: string;
  readonly documents: number;
  readonly requests: number;
  readonly faults: number;
}

const CALLERS = ['ada', 'ben', 'cleo', 'dora'];
/** Of each caller: what one of them does may meet what the other does. */
const ACTORS = 2;

/** Lets callers do what comes to their mind while everything that can be killed is, then holds what is left against what was promised. */
export async function runChaos({ seed, seconds, redis, index }: ChaosOptions): Promise<ChaosResult> {
  const history = createHistory();
  const cluster = await startCluster({
    redis,
    history,
    env: { QUIRE_INDEX: index, QUIRE_INGEST_ATTACHMENTS: 'true' },
  });
  try {
    await cluster.untilReady();
    const exchange = createExchange(cluster, history);
    const arena: Arena = {
      cluster,
      history,
      exchange,
      callers: CALLERS,
      world: createWorld(),
      ledger: createLedger(),
    };
    const office = createPostOffice();
    await disturb(arena, office, { seed, seconds });
    await judge(arena, office);
    const faults = history.entries.filter(({ what }) => what.startsWith('fault:')).length;
    return {
      violations: history.violations,
      report: describeViolations(arena),
      talk: describeTalk(arena),
      faults,
      documents: arena.world.documents.size,
      requests: history.entries.length,
    };
  } finally {
    await cluster.stop();
  }
}

async function disturb(
  arena: Arena,
  office: PostOffice,
  { seed, seconds }: { seed: number; seconds: number },
): Promise<void> {
  const random = createRandom(String(seed));
  const over = AbortSignal.timeout(seconds * 1_000);
  const actors = CALLERS.flatMap((name) =>
    Array.from({ length: ACTORS }, (_, i): Actor => ({
      arena,
      name,
      others: CALLERS.filter((each) => each !== name),
      random: random.branch(`${name} ${String(i)}`),
    })),
  );
  const postmasters = Array.from({ length: ACTORS }, (_, i): Actor => ({
    arena,
    name: POSTMASTER,
    others: [],
    random: random.branch(`${POSTMASTER} ${String(i)}`),
  }));
  const faults = planFaults(random.branch('faults'), seconds * 1_000);
  await Promise.all([
    ...actors.map((actor) => play(actor, over)),
    ...postmasters.map((actor) => runPostOffice(actor, office, over)),
    letHappen(faults, { cluster: arena.cluster, history: arena.history, signal: over }),
  ]);
  arena.history.note('quiet');
}

/** The oracle. */
async function judge(arena: Arena, office: PostOffice): Promise<void> {
  await settleAll(arena);
  await withRedis(arena.cluster.redis.url, async (redis) => {
    await checkMessages(arena, office, redis);
    const records = await readAllRecords(redis);
    adoptLost(
      arena,
      records.filter((record) => !isOfMail(record)),
    );
    await checkStatistics(arena, redis);
    await checkLeftovers(arena, redis, records);
    await checkUsage(arena, redis);
    await checkDocuments(arena);
    await checkLists(arena);
    await removeMessages(arena, redis);
    await checkEmptied(arena, redis);
  });
}
