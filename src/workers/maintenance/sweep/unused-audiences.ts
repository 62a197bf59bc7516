import { createAudiences } from '../../../shared/access/audiences.js';
import type { SweepParts, SweepTask } from './sweep-task.js';

/** Tags of chunks may name an audience for longer than a record does: those of a re-tagging that was overtaken. */
const GRACE_MS = 600_000;
/** While Redis is short of memory: longer than from making an audience known to the record that refers to it. */
const SHORT_GRACE_MS = 60_000;

/** Large audiences that no record has referred to for a while, a page of them in a step. */
export const audiencesTask = ({ redis, memory }: SweepParts): SweepTask => ({
  name: 'audiences',
  begin: (now) => {
    const audiences = createAudiences(redis);
    return async () => {
      const grace = (await memory.isShort()) ? SHORT_GRACE_MS : GRACE_MS;
      return (await audiences.collect(now - grace)) > 0;
    };
  },
});
