import { systemErrorCode } from '../shared/system-error-code.js';
import { UnavailableError } from '../shared/errors.js';
import type { Logger } from '../shared/observability/logger.js';
import type { WorkerMetrics } from '../shared/observability/worker-metrics.js';
import { toUnavailable } from '../shared/redis/client.js';

/** A set that is worked off member by member, which is also the label of the metric. */
export type WorkedSet = 'usage' | 'unfinished' | 'caches' | 'hidden' | 'garbage';

/** After this many members in a row that failed because a server is away, the others would fail too. */
const MAX_UNAVAILABLE = 5;

/**
 * Works off members one after the other. A member that fails stays in its set for the next time and stops no other. It
 * is counted, and each run logs once that members failed, without anything that they hold.
 *
 * @returns how many failed
 * @throws UnavailableError when a server seems to be away
 */
export type WorkOffSet = <Member>(
  set: WorkedSet,
  members: Iterable<Member> | AsyncIterable<Member>,
  work: (member: Member) => Promise<unknown>,
) => Promise<number>;

export function createWorkOffSet({
  logger,
  metrics,
}: {
  readonly logger: Logger;
  readonly metrics: WorkerMetrics;
}): WorkOffSet {
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

/** Returns the type and place of an error. Its message is left out, since it may quote a document. */
function describe(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return {
    type: error.name,
    code: systemErrorCode(error),
    frames: frames.slice(0, 4).map((line) => line.trim()),
  };
}
