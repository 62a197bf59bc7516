import { createClient } from '../support/client.js';

import { findQueryEngine, startQueryEngine } from '../support/query-engine-server.js';
import type { TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { watchSlowdown } from '../support/slowdown.js';
import { longestTurn, METERED } from '../support/turns.js';
import { PATIENCE_SECONDS, together, type Attack, type Observed, type Target } from './attack.js';
import { accessListAttacks } from './attacks/access-lists.js';
import { bodyAttacks, drippingConnections } from './attacks/bodies.js';
import { cacheAttacks } from './attacks/caches.js';
import { CONNECTIONS_PER_ADDRESS, connectionAttacks } from './attacks/connections.js';
import { fileAttacks } from './attacks/files.js';
import { headAttacks } from './attacks/headers.js';
import { identityAttacks } from './attacks/identity.js';
import { malformedAttacks } from './attacks/malformed.js';
import { parserAttacks } from './attacks/parsers.js';
import { pageAttacks } from './attacks/pages.js';
import { patternAttacks } from './attacks/patterns.js';
import { queueAttacks } from './attacks/queues.js';
import { searchAttacks } from './attacks/searches.js';
import { sharingAttacks } from './attacks/sharing.js';
import { slowReaderAttacks, stalledReaders } from './attacks/slow-readers.js';
import { streamAttacks } from './attacks/streams.js';
import { unreadAttacks } from './attacks/unread.js';
import { wideListAttacks } from './attacks/wide-lists.js';
import { startCanary } from './canary.js';
import { watchMemory, type Peak } from './memory.js';
import { SERVED_WITHIN_MS, type Song } from './song.js';

/** Last those after which the service has the most to do. */
const ATTACKS: readonly Attack[] = [
  ...patternAttacks,
  ...headAttacks,
  ...bodyAttacks,
  ...connectionAttacks,
  ...searchAttacks,
  ...streamAttacks,
  // Both mostly wait for time limits.
  together(drippingConnections, stalledReaders),
  ...slowReaderAttacks,
  ...unreadAttacks,
  ...wideListAttacks,
  ...identityAttacks,
  ...malformedAttacks,
  ...accessListAttacks,
  ...sharingAttacks,
  ...fileAttacks,
  ...pageAttacks,
  ...parserAttacks,
  ...cacheAttacks,
  ...queueAttacks,
];

/** Processor time of a turn of the API's event loop, in which several requests may come together. */
const TURN_WITHIN_MS = 250;
const GROWTH_MEGABYTES = 300;
/** The descriptors of the API process (`ulimit -n`): less than attacks open connections. */
const DESCRIPTORS = 768;

export interface Result {
  readonly attack: string;
  readonly answer: string;
  readonly canaryMilliseconds: number;
  /** The longest that a service without Quire took meanwhile: where that is long, others fill this machine. */
  readonly controlMilliseconds: number;
  /** Processor time of the longest turn of the API's event loop; null when it could not be asked. */
  readonly turnMilliseconds: number | null;
  /** Peak by process, as `name before→peak`. */
  readonly memory: string;
  /** Everything that is wrong; null for nothing. */
  readonly wrong: string | null;
}

export interface HostileOptions {
  readonly isShort: boolean;
  readonly index?: 'exact' | 'query-engine';
  /** A pattern of names; only those attacks run. */
  readonly only?: RegExp;
  readonly onResult?: (result: Result) => void;
  /** Times as long as elsewhere may others wait, and attacks for what they ask: for machines that are shared. */
  readonly slowness?: number;
}

/** Attacks a service of its own, in production mode, while another caller searches. */
export async function runHostile({
  isShort,
  index = 'exact',
  only = /./,
  onResult,
  slowness = 1,
}: HostileOptions): Promise<Result[]> {
  const stalledSeconds = isShort ? 4 : 10;
  const redis = await startRedis(index);
  const service = await startService({
    ...(redis && { redis }),
    execArgv: METERED,
    apiDescriptors: DESCRIPTORS,
    workers: ['ingestion,embedding', 'ingestion,embedding,cache', 'cache,usage,maintenance'],
    env: {
      QUIRE_DEV_MODE: 'false',
      LOCAL_URI_PASSWORD: 'a password of the tests',
      QUIRE_CHUNK_SIZE: '16',
      QUIRE_CHUNK_OVERLAP: '0',
      QUIRE_INGEST_PARSE_SECONDS: '8',
      QUIRE_API_REQUEST_TIMEOUT_SECONDS: '30',
      QUIRE_INGEST_PARSE_MEMORY_MEGABYTES: '1536',
      QUIRE_INDEX: index,
      QUIRE_API_STALLED_SECONDS: String(stalledSeconds),
      QUIRE_API_CONNECTIONS_PER_ADDRESS: String(CONNECTIONS_PER_ADDRESS),
    },
  });
  const results: Result[] = [];
  try {
    const as = (user: string, permissions?: readonly string[]) =>
      createClient(service.url, user, permissions);
    const bystander = as('bystander');
    await bystander.ingestText('A canary sings.');
    /** A full machine keeps everyone waiting: by how much, its kernel tells. */
    const servedWithin = (slowdown: number) => ({
      withinMilliseconds: slowness * slowdown * SERVED_WITHIN_MS,
    });
    const canary = await startCanary(service.url, bystander);
    const target: Target = {
      service,
      url: service.url,
      port: Number(new URL(service.url).port),
      as,
      isShort,
      slowness,
      stalledSeconds,
      attacker: as('attacker'),
    };
    try {
      const isWanted = ({ name, isLong = false }: Attack) => only.test(name) && !(isShort && isLong);
      for (const attack of ATTACKS.filter(isWanted)) {
        const prepared = await prepare(attack, target);
        const memory = await watchMemory(service);
        await canary.take(servedWithin(1));
        await turnOf(service);
        const slowdown = await watchService(service);
        const observed = prepared ?? (await attempt(attack, target));
        const song = await canary.take(servedWithin(await slowdown()));
        const turn = await turnOf(service);
        const result = judge(attack, { observed, song, turn, peaks: await memory.stop() });
        results.push(result);
        onResult?.(result);
        await revive(service);
      }
    } finally {
      await canary.stop();
    }
    const ended = [service.api, ...service.workers].filter(
      ({ child }) => child.exitCode !== null || child.signalCode !== null,
    );
    const failures = [...service.api.output().matchAll(/"status":500/g)].length;
    const wrong =
      ended.length > 0
        ? 'a process ended'
        : failures > 0
          ? `${String(failures)} answers of 500 in the log`
          : null;
    results.push({ ...NOTHING, wrong });
    return results;
  } finally {
    await service.stop();
    await redis?.stop();
  }
}

/** @throws where no Query Engine is found; null: a plain Redis, that the service starts */
async function startRedis(index: 'exact' | 'query-engine'): Promise<TestRedis | null> {
  if (index === 'exact') return null;
  const engine = findQueryEngine();
  if (!engine) throw new Error('no Redis with the Query Engine found (QUIRE_TEST_QUERY_ENGINE)');
  return startQueryEngine(engine);
}

/** The factor by which its API or its Redis is slower than alone: whichever is held up more. */
async function watchService({ api, redis }: Service): Promise<() => Promise<number>> {
  const each = await Promise.all([api.child.pid ?? 0, redis.pid].map(watchSlowdown));
  return async () => Math.max(...(await Promise.all(each.map((slowdown) => slowdown()))));
}

/** Starts anew a service that an attack has hung or ended, so that the next attacks meet one. */
async function revive(service: Service): Promise<void> {
  const response = await fetch(`${service.url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(
    () => null,
  );
  await response?.arrayBuffer();
  if (response?.status === 200) return;
  await service.startApi();
  await service.untilReady();
}

const NOTHING = {
  attack: 'after all of this',
  answer: '',
  memory: '',
  canaryMilliseconds: 0,
  controlMilliseconds: 0,
  turnMilliseconds: null,
};

/** Rounded; null for an API that hangs. */
async function turnOf({ api }: Service): Promise<number | null> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, 10_000, null).unref());
  const turn = await Promise.race([longestTurn(api).catch(() => null), late]);
  return turn === null ? null : Math.round(turn);
}

/** null when what the attack needs is there */
async function prepare(attack: Attack, target: Target): Promise<Observed | null> {
  try {
    await attack.prepare?.(target);
    return null;
  } catch (error) {
    return { answer: messageOf(error), wrong: 'the attack could not be prepared' };
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 100);

async function attempt(attack: Attack, target: Target): Promise<Observed> {
  const seconds = target.slowness * (attack.patienceSeconds ?? PATIENCE_SECONDS);
  const late = AbortSignal.timeout(seconds * 1_000);
  const hung = new Promise<Observed>((resolve) => {
    late.addEventListener('abort', () => resolve({ answer: 'none', wrong: 'hangs' }));
  });
  const done = attack.run(target).catch((error: unknown): Observed => {
    return { answer: messageOf(error), wrong: 'the attack did not come to its end' };
  });
  return Promise.race([done, hung]);
}

interface Seen {
  readonly observed: Observed;
  readonly song: Song;
  readonly turn: number | null;
  readonly peaks: readonly Peak[];
}

function judge({ name, growth = GROWTH_MEGABYTES }: Attack, seen: Seen): Result {
  const { observed, song, turn, peaks } = seen;
  const { worstMilliseconds, keptWaitingMilliseconds, controlMilliseconds, failures } = song;
  const grown = peaks.filter(({ before, peak }) => peak - before > growth);
  const wrong = [
    observed.wrong,
    keptWaitingMilliseconds > 0 ? `another caller waited ${String(keptWaitingMilliseconds)} ms` : null,
    (turn ?? 0) > TURN_WITHIN_MS ? `a turn of the event loop took ${String(turn)} ms` : null,
    failures.length > 0 ? `another caller got ${[...new Set(failures)].join(', ')}` : null,
    ...grown.map((each) => `${each.name} grew by ${String(each.peak - each.before)} MB`),
  ].filter((each) => each !== null);
  return {
    attack: name,
    answer: observed.answer,
    canaryMilliseconds: worstMilliseconds,
    controlMilliseconds,
    turnMilliseconds: turn,
    memory: peaks.map((each) => `${each.name} ${String(each.before)}→${String(each.peak)}`).join(', '),
    wrong: wrong.length > 0 ? wrong.join('; ') : null,
  };
}
