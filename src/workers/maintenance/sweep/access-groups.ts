import { createAccessGroups } from '../../../shared/access/access-groups.js';
import type { SweepParts, SweepTask } from './task.js';

/** Tags of chunks may name an access group for longer than a record does: those of a re-tagging that was overtaken. */
const GRACE_MS = 600_000;
/** While Redis is short of memory: longer than from making an access group known to the record that refers to it. */
const SHORT_GRACE_MS = 60_000;

/** Access groups that no record has referred to for a while, a page of them in a step. */
export const accessGroupsTask = ({ redis, memory }: SweepParts): SweepTask => ({
  name: 'access groups',
  begin: (now) => {
    const groups = createAccessGroups(redis);
    return async () => {
      const grace = (await memory.isShort()) ? SHORT_GRACE_MS : GRACE_MS;
      return (await groups.collect(now - grace)) > 0;
    };
  },
});
