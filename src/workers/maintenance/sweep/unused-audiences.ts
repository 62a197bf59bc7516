import { createAudiences } from '../../../shared/access/audiences.js';
import type { SweepParts, SweepTask } from './sweep-task.js';

/** The tags of chunks may name an audience for longer than a record does, until they are rewritten. */
const GRACE_MS = 600_000;
/** Applies while Redis is short of memory. An audience is stored before its record, and this is longer than that takes. */
const SHORT_GRACE_MS = 60_000;

/** Removes large audiences that no record has referred to for a while. */
export const unusedAudiencesTask = ({ redis, memory }: SweepParts): SweepTask => ({
  name: 'audiences',
  begin: (now) => {
    const audiences = createAudiences(redis);
    return async () => {
      const grace = (await memory.isShort()) ? SHORT_GRACE_MS : GRACE_MS;
      return (await audiences.collect(now - grace)) > 0;
    };
  },
});
