import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Member } from './cluster.js';
import type { History } from './history.js';
import type { Random } from './random.js';
import type { Troubles } from './troubles.js';
import { withRedis } from './with-redis.js';

/** The frequency of each fault, beside the others. */
const KINDS = {
  'kill api': 3,
  'kill worker': 4,
  'stop api': 1,
  'stop worker': 1,
  'freeze api': 2,
  'freeze worker': 3,
  'crash redis': 2,
  'freeze redis': 2,
  'flush scripts': 4,
} as const;
export type FaultKind = keyof typeof KINDS;

/** Something that goes wrong. */
export interface Fault {
  /** Milliseconds until the next one. */
  readonly after: number;
  readonly kind: FaultKind;
  /** The place of the process. */
  readonly place: number;
  /** For how long it is down or frozen; for scripts, how often they are forgotten. */
  readonly forMs: number;
}

/** From this time between two faults on, each lasts shorter. */
export const CALM_EVERY_MS = 1_800;
const FIRST_AFTER_MS = 1_500;
const AGAIN_AFTER_MS = 20;
/** The lateness that faults make up for by following at once, and the number of faults that wait. */
const MAX_LATE_MS = 1_000;
const MAX_WAITING = 20;

/** Faults without end, from a seed alone. At a higher rate they are shorter, so that most things run most of the time. */
export function* planFaults(random: Random, everyMs: number): Generator<Fault, never> {
  const pace = everyMs / CALM_EVERY_MS;
  const some = (min: number, max: number) => random.whole(Math.ceil(min * pace), Math.ceil(max * pace));
  for (;;) {
    const kind = random.weighted(KINDS);
    yield { after: some(400, 3_200), kind, place: random.whole(0, 5), forMs: some(100, 3_000) };
  }
}

interface Happening {
  readonly cluster: Cluster;
  readonly history: History;
  readonly troubles: Troubles;
  readonly signal: AbortSignal;
  /** The greatest number of them. */
  readonly count: number;
  /** Called when an API process has ended, be it killed or asked to stop. */
  readonly onEnded: (api: string, how: { readonly isKilled: boolean }) => void;
}

/**
 * Lets them happen one after the other. One whose target is down already waits until that is back, so that their mix stays
 * as it was planned. Everything runs again when it returns.
 */
export async function letHappen(faults: Iterator<Fault, never>, happening: Happening): Promise<void> {
  const { cluster, history, troubles, signal, count, onEnded } = happening;
  const begun: Promise<void>[] = [];
  const waiting: Fault[] = [];
  let due = performance.now() + FIRST_AFTER_MS;
  while (begun.length < count) {
    await sleep(Math.max(AGAIN_AFTER_MS, due - performance.now()), undefined, { signal }).catch(
      () => undefined,
    );
    if (signal.aborted) break;
    if (waiting.length < MAX_WAITING) waiting.push(faults.next().value);
    const fault = await firstPossible(waiting, happening);
    if (!fault) continue;
    waiting.splice(waiting.indexOf(fault), 1);
    const target = targetOf(cluster, fault);
    const end = troubles.begin(target);
    if (isDeadly(fault))
      void memberOf(cluster, fault)
        .ended()
        .then(() => onEnded(target, { isKilled: fault.kind === 'kill api' }));
    history.fault(fault.kind, `(${target}) for ${String(fault.forMs)} ms`);
    begun.push(inflict(cluster, fault).finally(end));
    due = Math.max(due + fault.after, performance.now() - MAX_LATE_MS);
  }
  await Promise.all(begun);
}

async function firstPossible(
  faults: readonly Fault[],
  { cluster, troubles }: Happening,
): Promise<Fault | undefined> {
  for (const fault of faults) {
    const target = targetOf(cluster, fault);
    const isAway = troubles.has(target) || (target === 'scripts' && troubles.has('redis'));
    if (!isAway && (await isWorthIt(cluster, fault))) return fault;
  }
  return undefined;
}

/** Tells whether it ends an API process. */
const isDeadly = ({ kind }: Fault): boolean => kind === 'kill api' || kind === 'stop api';

/** Mostly one API is left to be asked: when all are away, little happens. */
async function isWorthIt(cluster: Cluster, fault: Fault): Promise<boolean> {
  if (!isDeadly(fault) || fault.place > 3) return true;
  const others = cluster.apis.filter((each) => each !== memberOf(cluster, fault));
  const answers = others.map(({ url }) =>
    fetch(`${url}/health`, { signal: AbortSignal.timeout(500) }).then(
      async (response) => (await response.arrayBuffer()).byteLength > 0 && response.status === 200,
      () => false,
    ),
  );
  return (await Promise.all(answers)).includes(true);
}

function memberOf({ apis, workers }: Cluster, { kind, place }: Fault): Member {
  const members = kind.endsWith('api') ? apis : workers;
  const member = members[place % members.length];
  if (!member) throw new Error('no process');
  return member;
}

function targetOf(cluster: Cluster, fault: Fault): string {
  if (fault.kind === 'flush scripts') return 'scripts';
  return fault.kind.endsWith('redis') ? 'redis' : memberOf(cluster, fault).name;
}

/** It is down for half of the time, and left alone until it serves again. */
async function end(member: Member, signal: NodeJS.Signals, forMs: number): Promise<void> {
  await member.kill(signal, forMs / 2);
  await member.back();
}

async function inflict(cluster: Cluster, fault: Fault): Promise<void> {
  const { redis } = cluster;
  const { kind, forMs } = fault;
  switch (kind) {
    case 'kill api':
    case 'kill worker':
      return end(memberOf(cluster, fault), 'SIGKILL', forMs);
    case 'stop api':
    case 'stop worker':
      return end(memberOf(cluster, fault), 'SIGTERM', forMs);
    case 'freeze api':
    case 'freeze worker': {
      const member = memberOf(cluster, fault);
      member.signal('SIGSTOP');
      await sleep(forMs);
      member.signal('SIGCONT');
      return;
    }
    case 'crash redis':
      await redis.crash();
      await sleep(forMs / 2);
      return redis.start();
    case 'freeze redis':
      process.kill(redis.pid, 'SIGSTOP');
      await sleep(forMs);
      process.kill(redis.pid, 'SIGCONT');
      return;
    case 'flush scripts':
      // More than once: it strikes between the steps of work that runs. Redis may be killed meanwhile.
      return withRedis(redis.url, async (client) => {
        for (let left = forMs; left > 0; left -= 150) {
          await client.scriptFlush();
          await sleep(150);
        }
      }).catch(() => undefined);
  }
}
