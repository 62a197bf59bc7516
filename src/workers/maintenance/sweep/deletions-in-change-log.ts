import { keys } from '../../../shared/redis/keys.js';
import type { SweepParts, SweepTask } from './sweep-task.js';

const TOMBSTONE_MS = 86_400_000;
const PAGE = 200;

/** Removes the entries of deleted documents, after every mirror has had a day to read them. */
export const deletionsInChangeLogTask = ({ redis }: SweepParts): SweepTask => ({
  name: 'tombstones',
  begin: (now) => async () => {
    const buried = await redis.zRange(keys.tombstones, '-inf', now - TOMBSTONE_MS, {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: PAGE },
    });
    if (buried.length > 0)
      await redis.multi().zRem(keys.changes, buried).zRem(keys.tombstones, buried).exec();
    return buried.length === PAGE;
  },
});
