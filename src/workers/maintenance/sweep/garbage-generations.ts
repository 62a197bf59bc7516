import { jobIds } from '../../../shared/queues/payloads.js';
import { keys } from '../../../shared/redis/keys.js';
import { scanSet, type SweepParts, type SweepTask } from './sweep-task.js';

const PAGE = 200;

/** Adds jobs for discarded generations that no job cleans. While Redis is full, queues stand still, so it cleans them itself. */
export const garbageGenerationsTask = ({
  redis,
  jobs,
  memory,
  clean,
  workOffSet,
}: SweepParts): SweepTask => ({
  name: 'garbage',
  begin: () =>
    scanSet(redis, keys.garbage, {
      page: PAGE,
      work: async (generations) => {
        if (await memory.isFull()) {
          await workOffSet('garbage', generations, clean);
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
