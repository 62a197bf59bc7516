import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestRedis } from '../support/redis.js';
import type { Actor, Arena } from './arena.js';
import { attack, ATTACKERS } from './attackers/attackers.js';
import { confiscate } from './attackers/documents.js';
import { surroundAttackers } from './attackers/surroundings.js';
import { CANARY, keepCanary, settleCanary, type Canary } from './canary.js';
import { play } from './caller.js';
import { startCluster } from './cluster.js';
import { createExchange } from './exchange.js';
import { CALM_EVERY_MS, letHappen, planFaults } from './faults.js';
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
import { checkOwned } from './oracle/owned.js';
import { checkCounts, checkUsage } from './oracle/usage.js';
import { watchProgress, type Progress } from './progress.js';
import { createRandom, type Random } from './random.js';
import { describeTalk, describeViolations, refusalsOf } from './report.js';
import { retryKilled, settleAll } from './settle.js';
import { createTroubles } from './troubles.js';
import { loseReads } from './unsure-reads.js';
import { withRedis } from './with-redis.js';
import { createWorld } from './world.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly redis: TestRedis;
  readonly index: 'exact' | 'query-engine';
  /** When callers begin to attack the service beside the others; without: never. `redis` is then a `smallRedis`. */
  readonly attackAfterSeconds?: number;
  /** The number of faults at which the run ends before its time. */
  readonly faults?: number;
  /** Milliseconds from one fault to the next, on average. */
  readonly everyMs?: number;
}

export interface ChaosResult {
  readonly violations: readonly Violation[];
  /** The first violation with its history. */
  readonly report: string;
  /** The doings and their answers. */
  readonly talk: string;
  readonly documents: number;
  readonly requests: number;
  readonly faults: number;
  readonly figures: Figures;
}

/** The figures of a run, to be written down. */
export interface Figures {
  readonly seconds: number;
  readonly faultsByKind: Readonly<Record<string, number>>;
  /** The number of postponed requests, by the reason. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly progress: Progress;
  readonly canary: Canary;
  /** The number of documents that failed because their workers were killed, and were retried. */
  readonly killed: number;
}

const CALLERS = ['ada', 'ben', 'cleo', 'dora'];
/** The actors of each caller: actions of one may meet actions of the other. */
const ACTORS = 2;
/** Callers whose documents the model of the world does not know. */
const STRANGERS = [...ATTACKERS, CANARY];

/**
 * Lets callers do random operations while every process that can be killed is, then compares the data that is left with the
 * promises.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const history = createHistory();
  const surroundings = options.attackAfterSeconds === undefined ? null : await surroundAttackers();
  const { dataDirectory, descriptors, env } = surroundings ?? {};
  const cluster = await startCluster({
    redis: options.redis,
    history,
    env: { QUIRE_INDEX: options.index, QUIRE_INGEST_ATTACHMENTS: 'true', ...env },
    ...(dataDirectory != null && { dataDirectory }),
    ...(descriptors !== undefined && { descriptors }),
  });
  try {
    await cluster.untilReady();
    const arena: Arena = {
      cluster,
      history,
      exchange: createExchange(cluster, history),
      callers: CALLERS,
      world: createWorld(),
      ledger: createLedger(),
      troubles: createTroubles([['redis'], cluster.apis.map(({ name }) => name)]),
    };
    return await runIn(arena, options);
  } finally {
    await cluster.stop();
    await surroundings?.stop();
  }
}

async function runIn(arena: Arena, options: ChaosOptions): Promise<ChaosResult> {
  const { history, world } = arena;
  const office = createPostOffice();
  const watched = new AbortController();
  const watching = watchProgress(arena, new Set(STRANGERS), watched.signal);
  const canary = await disturb(arena, office, options);
  const seconds = Math.round(history.elapsed() / 1_000);
  const killed = await judge(arena, office, watched).catch((error: unknown) => {
    history.violate('everything is answered when all is quiet', String(error));
    return 0;
  });
  watched.abort();
  const faultsByKind = Object.fromEntries(history.faults);
  return {
    violations: history.violations,
    report: describeViolations(arena),
    talk: describeTalk(arena),
    faults: Object.values(faultsByKind).reduce((sum, each) => sum + each, 0),
    documents: world.documents.size + world.retired.size,
    requests: history.entries.length,
    figures: { seconds, faultsByKind, refusals: refusalsOf(arena), progress: await watching, canary, killed },
  };
}

async function disturb(arena: Arena, office: PostOffice, options: ChaosOptions): Promise<Canary> {
  const { seed, seconds, faults: count = Infinity, everyMs = CALM_EVERY_MS } = options;
  const random = createRandom(String(seed));
  const actorOf = (name: string, branch: Random, others: readonly string[] = []): Actor => ({
    arena,
    name,
    others,
    random: branch,
  });
  const canary = actorOf(CANARY, random.branch(CANARY));
  const home = await settleCanary(canary);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), seconds * 1_000);
  const over = end.signal;
  // Every pause of every actor listens.
  setMaxListeners(0, over);
  const inEach = Array.from({ length: ACTORS }, (_, i) => i);
  const { cluster, history, troubles } = arena;
  const faults = letHappen(planFaults(random.branch('faults'), everyMs), {
    cluster,
    history,
    troubles,
    signal: over,
    count,
    onEnded: (api, how) => loseReads(arena, api, how),
  });
  const [served] = await Promise.all([
    keepCanary(canary, home, over),
    ...CALLERS.flatMap((name) => {
      const others = CALLERS.filter((each) => each !== name);
      return inEach.map((i) => play(actorOf(name, random.branch(`${name} ${String(i)}`), others), over));
    }),
    ...inEach.map((i) =>
      runPostOffice(actorOf(POSTMASTER, random.branch(`${POSTMASTER} ${String(i)}`)), office, over),
    ),
    faults.finally(() => end.abort()),
    attackLater(arena, random, { afterSeconds: options.attackAfterSeconds, signal: over }),
  ]);
  clearTimeout(timer);
  history.note('quiet');
  return served;
}

async function attackLater(
  arena: Arena,
  random: Random,
  { afterSeconds, signal }: { readonly afterSeconds: number | undefined; readonly signal: AbortSignal },
): Promise<void> {
  if (afterSeconds === undefined) return;
  await sleep(afterSeconds * 1_000, undefined, { signal }).catch(() => undefined);
  if (!signal.aborted) await attack(arena, random, signal);
}

/** The oracle. Resolves with the number of documents that it retried. */
async function judge(arena: Arena, office: PostOffice, watched: AbortController): Promise<number> {
  await arena.cluster.untilReady();
  for (const stranger of STRANGERS) await confiscate(arena, stranger);
  await settleAll(arena);
  watched.abort();
  return withRedis(arena.cluster.redis.url, async (redis) => {
    const killed = await retryKilled(arena, redis);
    await checkMessages(arena, office, redis);
    const records = await readAllRecords(redis);
    await checkOwned(arena, records);
    adoptLost(
      arena,
      records.filter((record) => !isOfMail(record)),
    );
    await checkStatistics(arena, redis);
    await checkLeftovers(arena, redis, records);
    await checkUsage(arena, redis);
    for (const stranger of STRANGERS) await checkCounts(arena, redis, stranger);
    await checkDocuments(arena);
    await checkLists(arena);
    await removeMessages(arena, redis);
    await checkEmptied(arena, redis);
    return killed;
  });
}
