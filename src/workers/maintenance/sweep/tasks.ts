import { LANES } from '../../../shared/queues/lanes.js';
import { abandonedCacheBuildsTask } from './abandoned-cache-builds.js';
import { abandonedDocumentsTask } from './abandoned-documents.js';
import { contentHashesTask } from './after-updates/content-hashes.js';
import { deletionsInChangeLogTask } from './deletions-in-change-log.js';
import { filterTagsTask } from './after-updates/filter-tags.js';
import { ownedTask } from './after-updates/owned.js';
import { keptCacheStatesTask } from './kept-cache-states.js';
import { garbageGenerationsTask } from './garbage-generations.js';
import { strayGenerationsTask } from './stray-generations.js';
import { unreferencedObjectsTask } from './unreferenced-objects.js';
import { unusedAccessGroupsTask } from './unused-access-groups.js';
import type { SweepParts, SweepTask } from './sweep-task.js';

/** All tasks of a sweep, in the order in which they take their steps. */
export function tasksOf(parts: SweepParts, onRequeued: (documents: number) => void): SweepTask[] {
  return [
    abandonedDocumentsTask(parts, onRequeued),
    abandonedCacheBuildsTask(parts),
    keptCacheStatesTask(parts),
    strayGenerationsTask(parts),
    garbageGenerationsTask(parts),
    deletionsInChangeLogTask(parts),
    contentHashesTask(parts),
    filterTagsTask(parts),
    ownedTask(parts),
    unusedAccessGroupsTask(parts),
    ...LANES.map((lane): SweepTask => ({
      name: `time of ${lane}`,
      begin: () => () => parts.jobs.rebase(lane),
    })),
    unreferencedObjectsTask(parts),
  ];
}
