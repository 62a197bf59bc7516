import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { dropOldest } from '../tools/drop-oldest.js';
import { readerTag, callerTags, type CallerTags, type Principal } from './access.js';

/** The tags of this many callers are remembered. */
const MAX_CALLERS_KNOWN = 512;

/** Runs a query with the tags that a caller may read. */
export type WithCallerTags = <Answer>(
  principal: Principal,
  ask: (caller: CallerTags) => Promise<Answer>,
) => Promise<Answer>;

/**
 * Runs the query again if the caller has joined another access group meanwhile, because a document may have moved there
 * from a group that the query named. Tags are remembered: only reading them after the query costs a round trip.
 */
export function createWithCallerTags(redis: Redis): WithCallerTags {
  const known = new Map<string, readonly string[]>();
  const read = async (callerId: string) => {
    const members = await redis.zRange(keys.accessGroupsOf(readerTag(callerId)), 0, -1);
    // A map keeps the order of insertion, so that the first caller is the one who was read longest ago.
    known.delete(callerId);
    if (members.length > 0) known.set(callerId, members);
    dropOldest(known, MAX_CALLERS_KNOWN);
    return members;
  };
  return async (principal, ask) => {
    for (let asked = known.get(principal.id) ?? []; ;) {
      const answer = await ask(callerTags(principal, asked));
      const members = await read(principal.id);
      const had = new Set(asked);
      if (members.every((member) => had.has(member))) return answer;
      asked = members;
    }
  };
}
