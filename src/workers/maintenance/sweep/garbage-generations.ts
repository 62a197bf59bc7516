import { jobIds } from '../../../shared/queues/payloads.js';
import { keys } from '../../../shared/redis/keys.js';
import { scanSet, type SweepParts, type SweepTask } from './sweep-task.js';

const TOMBSTONE_MS = 86_400_000;
const PAGE = 200;

/** Discarded generations that no job cleans; all of them here while Redis is full, and no queue moves for that. */
export const garbageTask = ({ redis, jobs, memory, clean, eachMember }: SweepParts): SweepTask => ({
  name: 'garbage',
  begin: () =>
    scanSet(redis, keys.garbage, {
      page: PAGE,
      work: async (generations) => {
        if (await memory.isFull()) {
          await eachMember('garbage', generations, clean);
          return;
        }
        const wanted = generations.map((each) => ({ lane: 'maintenance' as const, id: jobIds.clean(each) }));
        const live = await jobs.areLive(wanted);
        await jobs.addCleans(
          generations.filter((_, i) => !live[i]),
          '',
        );
      },
    }),
});

/** After this long the next sweep, which follows at once, goes on with them. */
const MAX_REMOVAL_MS = 60_000;

/** Source objects that nothing refers to any more: as long as there are more, lest replacing outruns removing. */
export const objectsTask = ({ removeObjects }: SweepParts): SweepTask => ({
  name: 'objects',
  begin: (now) => async () => {
    const { removed, kept } = await removeObjects();
    return removed + kept > 0 && Date.now() - now < MAX_REMOVAL_MS;
  },
});

/** Entries of deleted documents that every mirror has long read. */
export const tombstonesTask = ({ redis }: SweepParts): SweepTask => ({
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
