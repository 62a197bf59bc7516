import { accessToken } from '../filters/tags.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { callerTags, type CallerTags } from './access-group.js';

/** How many callers' tags are remembered. */
const MAX_CALLERS_KNOWN = 512;

/** Asks by what a caller may read. */
export type WithCallerTags = <Answer>(
  callerId: string,
  ask: (caller: CallerTags) => Promise<Answer>,
) => Promise<Answer>;

/**
 * Asks by the tags of a caller, again if the caller came into another access group meanwhile: a document may have changed to
 * it from one that was asked for. Tags are remembered, so that only the second look costs a round trip.
 */
export function createWithCallerTags(redis: Redis): WithCallerTags {
  const known = new Map<string, readonly string[]>();
  const read = async (callerId: string) => {
    const members = await redis.zRange(keys.accessGroupsOf(accessToken(callerId)), 0, -1);
    // A map keeps the order of insertion: the first was asked for longest ago.
    known.delete(callerId);
    if (members.length > 0) known.set(callerId, members);
    for (const oldest of known.keys()) {
      if (known.size <= MAX_CALLERS_KNOWN) break;
      known.delete(oldest);
    }
    return members;
  };
  return async (callerId, ask) => {
    for (let asked = known.get(callerId) ?? []; ;) {
      const answer = await ask(callerTags(callerId, asked));
      const members = await read(callerId);
      const had = new Set(asked);
      if (members.every((member) => had.has(member))) return answer;
      asked = members;
    }
  };
}
