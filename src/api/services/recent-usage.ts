import type { RecentUsage, Usage, UsageEvent } from '../../shared/usage/usage.js';
import type { WriteBehind } from '../../shared/usage/write-behind.js';
import { heldSize, type AnswerMemory } from './answer-memory/answer-memory.js';
import { eachOf, held } from './stream-end.js';

/** Memory that is reserved for an event before it is read: of most of them it is more than they take. */
const EVENT_BYTES = 2_560;

interface Dependencies {
  readonly usage: Pick<Usage, 'recent'>;
  readonly usageOfReads: Pick<WriteBehind, 'untilStored'>;
  readonly memory: Pick<AnswerMemory, 'reserve'>;
}

/** Reads what a caller did last, newest first. The events hold memory of answers until they are sent. @throws UnavailableError */
export type ReadRecentUsage = (
  callerId: string,
  request: RecentUsage,
  signal: AbortSignal,
) => Promise<AsyncIterable<UsageEvent>>;

export function createReadRecentUsage({ usage, usageOfReads, memory }: Dependencies): ReadRecentUsage {
  return async (callerId, request, signal) => {
    const lease = await memory.reserve({ callerId, bytes: request.limit * EVENT_BYTES, signal });
    try {
      await usageOfReads.untilStored();
      const events = await usage.recent(callerId, request);
      lease.resize(heldSize(events));
      return held(eachOf(events), lease);
    } catch (error) {
      lease.release();
      throw error;
    }
  };
}
