import type { SweepParts, SweepTask } from './sweep-task.js';

/** After this time the sweep goes on with other tasks; the next sweep continues. */
const MAX_REMOVAL_MS = 60_000;

/** Removes source objects that are no longer referenced, as long as there are more, so that replacing cannot outpace it. */
export const unreferencedObjectsTask = ({ removeObjects }: SweepParts): SweepTask => ({
  name: 'objects',
  begin: (now) => async () => {
    const { removed, kept } = await removeObjects();
    return removed + kept > 0 && Date.now() - now < MAX_REMOVAL_MS;
  },
});
