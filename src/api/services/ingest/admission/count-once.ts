import { at } from '../../../../shared/at.js';
import {
  readUnfinishedIngests,
  type UnfinishedIngests,
} from '../../../../shared/documents/unfinished-ingests.js';
import type { Redis } from '../../../../shared/redis/client.js';
import { toMember } from '../../../../shared/redis/keys.js';
import { coalesceRuns } from '../../../../shared/tools/coalesce-runs.js';
import type { Arrivals, Arriving, Entered } from './arriving.js';

/**
 * Counts the unfinished ingests and the arrivals that came before this one, of all callers and of its own. A document that
 * such an arrival has named and that Redis counts already is counted once.
 */
export type CountOnce = (arrival: Entered) => Promise<Arriving>;

/** Callers who ask while Redis is being read share the next read, which names each document that is being written. */
export function createCountOnce(redis: Redis, arrivals: Pick<Arrivals, 'present'>): CountOnce {
  let asking = new Map<Entered, Arriving | null>();
  const runs = coalesceRuns(async () => {
    const asked = asking;
    asking = new Map();
    const callers = [...new Set([...asked.keys()].map(({ callerId }) => callerId))];
    // The line stays as it is at this moment: an arrival that leaves from now on has written its records by then, or will
    // not.
    const line = lineUp(arrivals.present());
    const named = line.flatMap((each) => each.named);
    countInOrder(asked, line, { callers, ...(await readUnfinishedIngests(redis, callers, named)) });
  });
  return async (arrival) => {
    const asked = asking.set(arrival, null);
    await runs.wait();
    const figures = asked.get(arrival);
    if (!figures) throw new Error('an arrival that asks is not among those that are present');
    return figures;
  };
}

interface InLine {
  readonly arrival: object;
  readonly callerId: string;
  readonly count: number;
  readonly named: readonly string[];
}

const lineUp = (present: ReturnType<Arrivals['present']>): InLine[] =>
  Array.from(present, (arrival) => {
    const { callerId, count, named } = arrival;
    return { arrival, callerId, count, named: [...named] };
  });

/** Tells each of the asking arrivals how many documents are before it. */
function countInOrder(
  asked: Map<object, Arriving | null>,
  line: readonly InLine[],
  { callers, all: allCounted, own, countedOf }: UnfinishedIngests & { readonly callers: readonly string[] },
): void {
  let all = allCounted;
  const byCaller = new Map(callers.map((caller, i) => [caller, at(own, i)]));
  let next = 0;
  for (const { arrival, callerId, count, named } of line) {
    const ofCaller = byCaller.get(callerId);
    if (asked.has(arrival)) asked.set(arrival, { all, own: ofCaller ?? 0 });
    const counted = countedOf.slice(next, next + named.length).filter((member) => member !== null);
    next += named.length;
    all += count - counted.length;
    const countedOwn = counted.filter((member) => member === toMember(callerId)).length;
    if (ofCaller !== undefined) byCaller.set(callerId, ofCaller + count - countedOwn);
  }
}
