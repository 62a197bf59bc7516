import { createAccessGroups } from '../../../shared/access/access-groups.js';
import type { SweepParts, SweepTask } from './sweep-task.js';

/** The tags of chunks may name an access group for longer than a record does, until they are rewritten. */
const GRACE_MS = 600_000;
/** Applies while Redis is short of memory. An access group is stored before its record, and this is longer than that takes. */
const SHORT_GRACE_MS = 60_000;

/** Removes access groups that no record has referred to for a while. */
export const unusedAccessGroupsTask = ({ redis, memory }: SweepParts): SweepTask => ({
  name: 'access groups',
  begin: (now) => {
    const groups = createAccessGroups(redis);
    return async () => {
      const grace = (await memory.isShort()) ? SHORT_GRACE_MS : GRACE_MS;
      return (await groups.collect(now - grace)) > 0;
    };
  },
});
