import { createClient } from '../support/client.js';
import { findQueryEngine, startQueryEngine } from '../support/query-engine-server.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { longestTurn, METERED } from '../support/turns.js';
import {
  PATIENCE_SECONDS,
  searching,
  together,
  watchSlowest,
  type Attack,
  type IndexName,
  type Observed,
  type Surroundings,
  type Target,
} from './attack.js';
import { accessListAttacks } from './attacks/access-lists.js';
import { answerAttacks } from './attacks/answers.js';
import { bodyAttacks, drippingConnections } from './attacks/bodies.js';
import { cacheAttacks } from './attacks/caches.js';
import { CONNECTIONS_PER_ADDRESS, connectionAttacks } from './attacks/connections.js';
import { fileAttacks } from './attacks/files.js';
import { fullDiskAttacks } from './attacks/full-disk.js';
import { fullRedisAttacks } from './attacks/full-redis.js';
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
import { startCanary, type Canary } from './canary.js';
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
  ...answerAttacks,
  ...fullRedisAttacks,
  ...fullDiskAttacks,
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
  readonly index?: IndexName;
  /** A pattern of names; only those attacks run. */
  readonly only?: RegExp;
  readonly onResult?: (result: Result) => void;
  /** Times as long as elsewhere may others wait, and attacks for what they ask: for machines that are shared. */
  readonly slowness?: number;
}

/** Attacks services of its own, in production mode, while another caller searches. */
export async function runHostile(options: HostileOptions): Promise<Result[]> {
  const { isShort, index = 'exact', only = /./ } = options;
  const isWanted = ({ name, isLong = false }: Attack) => only.test(name) && !(isShort && isLong);
  const wanted = ATTACKS.filter(isWanted);
  const sharing = wanted.filter(({ surround }) => surround === undefined);
  const results: Result[] = [];
  if (sharing.length > 0) results.push(...(await attackService(sharing, NO_SURROUNDINGS, options)));
  for (const attack of wanted) {
    const surroundings = await attack.surround?.(index);
    if (surroundings) results.push(...(await attackService([attack], surroundings, options)));
  }
  return results;
}

/** Those of the service that most attacks share. */
const NO_SURROUNDINGS: Surroundings = { env: {}, stop: () => Promise.resolve() };

/** @returns the result of each attack, and one more where the service was damaged by all of them together */
async function attackService(
  attacks: readonly Attack[],
  surroundings: Surroundings,
  options: HostileOptions,
): Promise<Result[]> {
  const ends = [() => surroundings.stop()];
  try {
    const redis = await startRedis(options.index ?? 'exact', surroundings.redis ?? []);
    ends.push(() => redis.stop());
    const stalledSeconds = options.isShort ? 4 : 10;
    const service = await startVictim(redis, surroundings, { ...options, stalledSeconds });
    ends.push(() => service.stop());
    const results = await attackInTurn(attacks, service, { ...options, stalledSeconds });
    const wrong = damageOf(service);
    if (wrong === null) return results;
    const end = { ...NOTHING, wrong };
    options.onResult?.(end);
    return [...results, end];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

type VictimOptions = HostileOptions & Pick<Target, 'stalledSeconds'>;

const startVictim = (
  redis: TestRedis,
  { env, dataDirectory }: Surroundings,
  { index = 'exact', stalledSeconds }: VictimOptions,
): Promise<Service> =>
  startService({
    redis,
    ...(dataDirectory !== undefined && { dataDirectory }),
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
      ...env,
    },
  });

async function attackInTurn(
  attacks: readonly Attack[],
  service: Service,
  { isShort, slowness = 1, stalledSeconds, onResult }: VictimOptions,
): Promise<Result[]> {
  const as = (user: string, permissions?: readonly string[]) => createClient(service.url, user, permissions);
  const bystander = as('bystander');
  await bystander.ingestText('A canary sings.');
  const canary = await startCanary(service.url, bystander);
  const { url } = service;
  const port = Number(new URL(url).port);
  const target = { service, url, port, as, isShort, slowness, stalledSeconds, attacker: as('attacker') };
  const results: Result[] = [];
  try {
    for (const attack of attacks) {
      const result = await watch(attack, target, canary);
      results.push(result);
      onResult?.(result);
      await revive(service);
    }
    return results;
  } finally {
    await canary.stop();
  }
}

/** Makes an attack, and tells what it and the others met meanwhile. */
async function watch(attack: Attack, target: Target, canary: Canary): Promise<Result> {
  const { service, slowness } = target;
  /** A full machine keeps everyone waiting: by how much, its kernel tells. */
  const servedWithin = (slowdown: number) => ({ withinMilliseconds: slowness * slowdown * SERVED_WITHIN_MS });
  const prepared = await prepare(attack, target);
  const memory = await watchMemory(service);
  await canary.take(servedWithin(1));
  await turnOf(service);
  const slowdown = await watchSlowest(searching(service));
  const observed = prepared ?? (await attempt(attack, target));
  const song = await canary.take(servedWithin(await slowdown()));
  const turn = await turnOf(service);
  return judge(attack, { observed, song, turn, peaks: await memory.stop() });
}

/** The damage that no single attack tells of; null for none. */
function damageOf({ api, workers }: Service): string | null {
  const ended = [api, ...workers].some(({ child }) => child.exitCode !== null || child.signalCode !== null);
  if (ended) return 'a process ended';
  const failures = [...api.output().matchAll(/"status":500/g)].length;
  return failures > 0 ? `${String(failures)} answers of 500 in the log` : null;
}

/** @throws where no Query Engine is found */
async function startRedis(index: IndexName, more: readonly string[]): Promise<TestRedis> {
  if (index === 'exact') return startTestRedis({ arguments: more });
  const engine = findQueryEngine();
  if (!engine) throw new Error('no Redis with the Query Engine found (QUIRE_TEST_QUERY_ENGINE)');
  return startQueryEngine(engine, { server: more });
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
  attack: 'after these attacks',
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
