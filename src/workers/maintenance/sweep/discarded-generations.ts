import { at } from '../../../shared/at.js';
import { latestAttempts } from '../../../shared/documents/transitions.js';
import { jobIds } from '../../../shared/queues/payloads.js';
import { keys } from '../../../shared/redis/keys.js';
import { scanSet, allAtOnce, type SweepParts, type SweepTask } from './sweep-task.js';

const GARBAGE_PAGE = 200;

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
      page: GARBAGE_PAGE,
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

const STRAYS_PAGE = 100;

/** Discards hidden generations that belong to no current attempt. A run that was superseded has left them behind. */
export const strayGenerationsTask = (parts: SweepParts): SweepTask => ({
  name: 'strays',
  begin: (now) => {
    const work = (page: string[]) =>
      allAtOnce(parts.workOffSet, 'hidden', page, (generation) => discardIfStray(parts, generation, now));
    return scanSet(parts.redis, keys.hidden, { page: STRAYS_PAGE, work });
  },
});

async function discardIfStray(
  { redis, records }: SweepParts,
  generation: string,
  now: number,
): Promise<void> {
  if ((await redis.sIsMember(keys.garbage, generation)) === 1) return;
  const record = await records.read(at(generation.split('.'), 0));
  if (record?.pending && latestAttempts(record).includes(generation)) return;
  // The generation was published after the page was read.
  if (record?.published?.generation === generation) return;
  await redis
    .multi()
    .sAdd(keys.garbage, generation)
    .hSet(keys.generation(generation), { discarded: String(now) })
    .exec();
}
