import { createAudiences } from '../../shared/audiences.js';
import type { SweepParts, SweepTask } from './task.js';

/** Tags of chunks may name an audience for longer than a record does: those of a re-tagging that was overtaken. */
const GRACE_MS = 3_600_000;

/** Large audiences that no record has referred to for an hour, a page of them in a step. */
export const audiencesTask = ({ redis }: SweepParts): SweepTask => ({
  name: 'audiences',
  begin: (now) => {
    const audiences = createAudiences(redis);
    return async () => (await audiences.collect(now - GRACE_MS)) > 0;
  },
});
