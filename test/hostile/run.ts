import { createClient } from '../support/client.js';
import { startService, type Service } from '../support/service.js';
import { STALLED_SECONDS, type Attack, type Observed, type Target } from './attack.js';
import { bodyAttacks } from './attacks/bodies.js';
import { fileAttacks } from './attacks/files.js';
import { identityAttacks } from './attacks/identity.js';
import { malformedAttacks } from './attacks/malformed.js';
import { patternAttacks } from './attacks/patterns.js';
import { queueAttacks } from './attacks/queues.js';
import { searchAttacks } from './attacks/searches.js';
import { startCanary, type Song } from './canary.js';
import { eventLoopDelay } from './event-loop.js';
import { watchMemory, type Peak } from './memory.js';

/** Last those after which the service has the most to do. */
const ATTACKS: readonly Attack[] = [
  ...[...patternAttacks, ...bodyAttacks, ...searchAttacks, ...identityAttacks, ...malformedAttacks],
  ...[...fileAttacks, ...queueAttacks],
];

/** Whoever else asks is served within this. */
const SERVED_WITHIN_MS = 1_000;
/** A single hold-up shows at the canary; this many are a service that stumbles. */
const LOOP_WITHIN_MS = 500;
const GROWTH_MEGABYTES = 300;
/** An attack that takes longer than this hangs, unless it says otherwise. */
const PATIENCE_SECONDS = 60;

export interface Result {
  readonly attack: string;
  readonly answer: string;
  readonly canaryMilliseconds: number;
  /** 99th percentile of the delays of the API's event loop meanwhile; null when it could not be asked. */
  readonly loopMilliseconds: number | null;
  /** Peak by process, as `name before→peak`. */
  readonly memory: string;
  /** Everything that is wrong; null for nothing. */
  readonly wrong: string | null;
}

export interface HostileOptions {
  readonly isShort: boolean;
  /** Of names; only those attacks. */
  readonly only?: RegExp;
  readonly onResult?: (result: Result) => void;
  /** Times as long as elsewhere may the canary wait: for machines that are shared. */
  readonly slowness?: number;
}

/** Attacks a service of its own, in production mode, while another caller searches. */
export async function runHostile({
  isShort,
  only = /./,
  onResult,
  slowness = 1,
}: HostileOptions): Promise<Result[]> {
  const service = await startService({
    workers: ['ingestion,embedding', 'ingestion,embedding,cache', 'cache,usage,maintenance'],
    env: {
      ...{ QUIRE_DEV_MODE: 'false', LOCAL_URI_PASSWORD: 'a password of the tests', QUIRE_CHUNK_SIZE: '16' },
      ...{
        QUIRE_CHUNK_OVERLAP: '0',
        QUIRE_INGEST_PARSE_SECONDS: '8',
        QUIRE_API_REQUEST_TIMEOUT_SECONDS: '30',
      },
      QUIRE_INGEST_PARSE_MEMORY_MEGABYTES: '1536',
      QUIRE_API_STALLED_SECONDS: String(STALLED_SECONDS),
    },
  });
  const results: Result[] = [];
  try {
    const as = (user: string, permissions?: readonly string[]) =>
      createClient(service.url, user, permissions);
    const bystander = as('bystander');
    const operator = as('operator', ['admin']);
    await bystander.ingestText('A canary sings.');
    const canary = await startCanary(service.url, bystander);
    const target: Target = {
      ...{ service, url: service.url, port: Number(new URL(service.url).port), as, isShort, slowness },
      attacker: as('attacker'),
    };
    try {
      for (const attack of ATTACKS.filter((each) => only.test(each.name))) {
        const memory = await watchMemory(service);
        await canary.take();
        await eventLoopDelay(service.url, operator.authorization);
        const observed = await attempt(attack, target);
        const song = await canary.take();
        const loop = await eventLoopDelay(service.url, operator.authorization);
        const result = judge(attack, {
          observed,
          song,
          loop,
          peaks: await memory.stop(),
          slowness,
        });
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
  }
}

/** What an attack has hung or ended is started anew, so that the next ones meet a service. */
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
  ...{ attack: 'after all of this', answer: '', canaryMilliseconds: 0, loopMilliseconds: null, memory: '' },
};

async function attempt(attack: Attack, target: Target): Promise<Observed> {
  const late = AbortSignal.timeout((attack.patienceSeconds ?? PATIENCE_SECONDS) * 1_000);
  const hung = new Promise<Observed>((resolve) => {
    late.addEventListener('abort', () => resolve({ answer: 'none', wrong: 'hangs' }));
  });
  const done = attack.run(target).catch((error: unknown): Observed => {
    const told = error instanceof Error ? error.message : String(error);
    return { answer: told.slice(0, 100), wrong: 'the attack did not come to its end' };
  });
  return Promise.race([done, hung]);
}

interface Seen {
  readonly observed: Observed;
  readonly song: Song;
  readonly loop: number | null;
  readonly peaks: readonly Peak[];
  readonly slowness: number;
}

function judge({ name, growth = GROWTH_MEGABYTES }: Attack, seen: Seen): Result {
  const { observed, song, loop, peaks, slowness } = seen;
  const { worstMilliseconds, failures } = song;
  const grown = peaks.filter(({ before, peak }) => peak - before > growth);
  const wrong = [
    observed.wrong,
    worstMilliseconds > SERVED_WITHIN_MS * slowness
      ? `another caller waited ${String(worstMilliseconds)} ms`
      : null,
    (loop ?? 0) > LOOP_WITHIN_MS * slowness ? `the event loop was held up ${String(loop)} ms` : null,
    failures.length > 0 ? `another caller got ${[...new Set(failures)].join(', ')}` : null,
    ...grown.map((each) => `${each.name} grew by ${String(each.peak - each.before)} MB`),
  ].filter((each) => each !== null);
  return {
    ...{ attack: name, answer: observed.answer, canaryMilliseconds: worstMilliseconds },
    loopMilliseconds: loop,
    memory: peaks.map((each) => `${each.name} ${String(each.before)}→${String(each.peak)}`).join(', '),
    wrong: wrong.length > 0 ? wrong.join('; ') : null,
  };
}
