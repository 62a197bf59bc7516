import { latestAttempts } from '../../shared/transitions.js';
import { keys } from '../../shared/keys.js';
import { scanSet, type SweepParts, type SweepTask } from './task.js';

const PAGE = 100;

/** Hidden generations that are no attempt of any unfinished document: left by a run that was overtaken. */
export const straysTask = (parts: SweepParts): SweepTask => ({
  name: 'strays',
  begin: (now) => {
    const work = (page: string[]) => discardStrays(parts, page, now);
    return scanSet(parts.redis, keys.hidden, { page: PAGE, work });
  },
});

async function discardStrays({ redis, records }: SweepParts, page: string[], now: number): Promise<void> {
  const garbage = await Promise.all(page.map((generation) => redis.sIsMember(keys.garbage, generation)));
  const hidden = page.filter((_, i) => !garbage[i]);
  const owners = await records.readMany(hidden.map((generation) => generation.split('.')[0] ?? ''));
  const strays = hidden.filter((generation, i) => {
    const record = owners[i];
    if (record?.pending && latestAttempts(record).includes(generation)) return false;
    // Published since the page was read: no stray at all.
    return record?.published?.generation !== generation;
  });
  await Promise.all(
    strays.map((generation) =>
      redis
        .multi()
        .sAdd(keys.garbage, generation)
        .hSet(keys.generation(generation), { discarded: String(now) })
        .exec(),
    ),
  );
}
