import { at } from '../../../shared/at.js';
import { latestAttempts } from '../../../shared/documents/transitions.js';
import { keys } from '../../../shared/redis/keys.js';
import { allAtOnce, scanSet, type SweepParts, type SweepTask } from './sweep-task.js';

const PAGE = 100;

/** Discards hidden generations that belong to no current attempt. A run that was superseded has left them behind. */
export const strayGenerationsTask = (parts: SweepParts): SweepTask => ({
  name: 'strays',
  begin: (now) => {
    const work = (page: string[]) =>
      allAtOnce(parts.workOffSet, 'hidden', page, (generation) => discardIfStray(parts, generation, now));
    return scanSet(parts.redis, keys.hidden, { page: PAGE, work });
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
