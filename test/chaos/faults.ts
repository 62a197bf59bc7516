import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Member } from './cluster.js';
import type { History } from './history.js';
import type { Random } from './random.js';
import { withRedis } from './with-redis.js';

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

/** Something that goes wrong at a time, in milliseconds since the start. */
export interface Fault {
  readonly at: number;
  readonly kind: FaultKind;
  /** Which of the processes. */
  readonly place: number;
  /** For how long it is down or frozen; for scripts, how often they are forgotten. */
  readonly forMs: number;
}

/** All faults of a run, from its seed alone. */
export function planFaults(random: Random, milliseconds: number): Fault[] {
  const faults: Fault[] = [];
  for (let at = 1_500; at < milliseconds; at += random.whole(400, 3_200)) {
    const kind = random.weighted(KINDS);
    faults.push({ at, kind, place: random.whole(0, 5), forMs: random.whole(100, 3_000) });
  }
  return faults;
}

/** Lets them happen; those whose target is down already do not. Everything runs again when it returns. */
export async function letHappen(
  faults: readonly Fault[],
  { cluster, history, signal }: { cluster: Cluster; history: History; signal: AbortSignal },
): Promise<void> {
  const started = performance.now();
  const busy = new Set<string>();
  const happening: Promise<void>[] = [];
  for (const fault of faults) {
    const wait = fault.at - (performance.now() - started);
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const target = targetOf(cluster, fault);
    if (busy.has(target) || !(await isWorthIt(cluster, fault))) continue;
    busy.add(target);
    history.note(`fault: ${fault.kind} (${target}) for ${String(fault.forMs)} ms`);
    happening.push(inflict(cluster, fault).finally(() => busy.delete(target)));
  }
  await Promise.all(happening);
}

/** Mostly one API is left to be asked: when all are away, little happens. */
async function isWorthIt(cluster: Cluster, fault: Fault): Promise<boolean> {
  if (!['kill api', 'stop api'].includes(fault.kind) || fault.place > 3) return true;
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

const targetOf = (cluster: Cluster, fault: Fault): string =>
  fault.kind.endsWith('redis') || fault.kind === 'flush scripts' ? 'redis' : memberOf(cluster, fault).name;

async function inflict(cluster: Cluster, fault: Fault): Promise<void> {
  const { redis } = cluster;
  const { kind, forMs } = fault;
  switch (kind) {
    case 'kill api':
    case 'kill worker':
      return memberOf(cluster, fault).kill('SIGKILL', forMs / 2);
    case 'stop api':
    case 'stop worker':
      return memberOf(cluster, fault).kill('SIGTERM', forMs / 2);
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
      // More than once: it strikes between the steps of what runs.
      return withRedis(redis.url, async (client) => {
        for (let left = forMs; left > 0; left -= 150) {
          await client.scriptFlush();
          await sleep(150);
        }
      });
  }
}
