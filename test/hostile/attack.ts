import type { Client } from '../support/client.js';
import type { Service } from '../support/service.js';
import { watchSlowdown } from '../support/slowdown.js';

/** An attack that takes longer than this hangs, unless it says otherwise. */
export const PATIENCE_SECONDS = 60;

/** The means of an attack. */
export interface Target {
  readonly service: Service;
  readonly url: string;
  readonly port: number;
  /** Someone who may do what users may. */
  readonly attacker: Client;
  /** Signs claims of whatever kind with the service's secret. */
  readonly as: (user: string, permissions?: readonly string[]) => Client;
  /** Short: a few in place of thousands. */
  readonly isShort: boolean;
  /** Times as long as elsewhere may something take: for machines that are shared. */
  readonly slowness: number;
  /** `api.stalled_seconds` of the service under attack. */
  readonly stalledSeconds: number;
}

/** The observation of an attack for the table; `wrong` is the part that the contract does not allow, null for none. */
export interface Observed {
  readonly answer: string;
  readonly wrong: string | null;
}

export type IndexName = 'exact' | 'query-engine';

/** The surroundings of a service that an attack needs to get anywhere, such as little room. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  /** Further arguments of the service's Redis. */
  readonly redis?: readonly string[];
  readonly dataDirectory?: string;
  /** Ends them after the service. */
  stop(): Promise<void>;
}

export interface Attack {
  readonly name: string;
  /**
   * Makes the surroundings of a service that no other attack meets; null, with a printed reason, where this machine cannot
   * have them. Without it, the attack is on the service that all such attacks share.
   */
  readonly surround?: (index: IndexName) => Promise<Surroundings | null>;
  /** Prepares the data that must be there before, which is not judged. */
  readonly prepare?: (target: Target) => Promise<void>;
  readonly run: (target: Target) => Promise<Observed>;
  /** Megabytes that a process may grow by meanwhile; by default 300. */
  readonly growth?: number;
  readonly patienceSeconds?: number;
  /** True if it takes more than some seconds and cannot be shortened, so that short runs leave it out. */
  readonly isLong?: boolean;
}

/** The processes that a search needs. */
export const searching = ({ api, redis }: Service): number[] => [api.child.pid ?? 0, redis.pid];

/** The processes that an ingest needs. */
export const ingesting = (service: Service): number[] => [
  ...searching(service),
  ...service.workers.map(({ child }) => child.pid ?? 0),
];

/** From now until it is asked: the factor by which that of these processes which is held up most is slower than alone. */
export async function watchSlowest(pids: readonly number[]): Promise<() => Promise<number>> {
  const each = await Promise.all(pids.map(watchSlowdown));
  return async () => Math.max(...(await Promise.all(each.map((slowdown) => slowdown()))));
}

/** Several attacks at the same time, for those that mostly wait. */
export function together(...attacks: readonly Attack[]): Attack {
  return {
    name: attacks.map(({ name }) => name).join(', beside '),
    growth: attacks.reduce((sum, { growth = 0 }) => sum + growth, 0),
    patienceSeconds: Math.max(...attacks.map(({ patienceSeconds = PATIENCE_SECONDS }) => patienceSeconds)),
    prepare: async (target) => {
      for (const { prepare } of attacks) await prepare?.(target);
    },
    run: async (target) => {
      const each = await Promise.all(attacks.map(({ run }) => run(target)));
      const wrong = each.map((one) => one.wrong).filter((one) => one !== null);
      return {
        answer: each.map(({ answer }) => answer).join('; '),
        wrong: wrong.length > 0 ? wrong.join('; ') : null,
      };
    },
  };
}

/** Statuses and how often each came, in a line; what is not allowed is wrong. */
export function observed(
  statuses: readonly (number | string)[],
  isAllowed: (status: number | string) => boolean,
): Observed {
  const counts = new Map<number | string, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  const answer = [...counts]
    .map(([status, count]) => (count === 1 ? String(status) : `${String(count)} × ${String(status)}`))
    .join(', ');
  const wrong = [...counts.keys()].filter((status) => !isAllowed(status));
  return { answer, wrong: wrong.length > 0 ? `answers ${wrong.join(', ')}` : null };
}

export const oneOf =
  (...allowed: readonly (number | string)[]) =>
  (status: number | string) =>
    allowed.includes(status);

/** Nothing of ours broke: done, refused, or asked to come again. */
export const isSane = (status: number | string): boolean =>
  typeof status === 'number' && ((status >= 200 && status < 500) || status === 503);

/** Status of an answer; what happened in its place where none came. */
export async function statusOf(asking: Promise<{ readonly status: number }>): Promise<number | string> {
  try {
    return (await asking).status;
  } catch (error) {
    const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
    if (typeof cause === 'object' && cause !== null && 'code' in cause) return String(cause.code);
    return error instanceof Error ? error.name : 'failed';
  }
}
