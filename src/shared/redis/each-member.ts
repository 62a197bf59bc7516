import { errorCode } from '../error-code.js';
import { UnavailableError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import { toUnavailable } from './client.js';

/** What is worked off member by member; the label of the metric. */
export type WorkedSet = 'usage' | 'unfinished' | 'caches' | 'hidden' | 'garbage';

/** After so many in a row that failed because a server is away, the others would, too. */
const MAX_UNAVAILABLE = 5;

/**
 * Works members off one after the other. One that fails stays where it is, to be tried the next time, and stops no
 * other: it is counted, and each run says so once, without anything of what the member holds.
 *
 * @returns how many failed
 * @throws UnavailableError when a server seems to be away
 */
export type EachMember = <Member>(
  set: WorkedSet,
  members: Iterable<Member> | AsyncIterable<Member>,
  work: (member: Member) => Promise<unknown>,
) => Promise<number>;

export function createEachMember({
  logger,
  metrics,
}: {
  readonly logger: Logger;
  readonly metrics: Metrics;
}): EachMember {
  return async (set, members, work) => {
    let failed = 0;
    let unavailable = 0;
    let first: unknown = null;
    for await (const member of members) {
      try {
        await work(member);
        unavailable = 0;
      } catch (thrown) {
        const error = toUnavailable(thrown);
        unavailable = error instanceof UnavailableError ? unavailable + 1 : 0;
        if (unavailable >= MAX_UNAVAILABLE) throw error;
        failed += 1;
        first ??= error;
        metrics.add('quire_members_failed_total', { set });
      }
    }
    if (failed > 0) logger.error({ set, failed, first: describe(first) }, 'members of a set failed');
    return failed;
  };
}

/** Kind and place of an error: its message may quote what was read. */
function describe(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return { type: error.name, code: errorCode(error), frames: frames.slice(0, 4).map((line) => line.trim()) };
}
