import type { Records } from '../../shared/documents/records.js';
import type { Fence } from '../../shared/documents/transitions.js';
import type { Turns } from '../../shared/fair-scheduling/turns.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import type { Outcome } from '../lane-worker.js';
import { isWaiting, type IngestShort, type ShortRun } from './ingest-short.js';

interface GroupParts {
  readonly records: Pick<Records, 'readMany'>;
  readonly jobs: Pick<Jobs, 'addIngests'>;
  readonly ingestShort: IngestShort;
  /** Groups that come back from a provider at once take turns. */
  readonly turns: Pick<Turns, 'run'>;
}

interface Group {
  readonly documentIds: readonly string[];
  readonly callerId: string;
  readonly requestId: string;
}

interface Run {
  readonly signal: AbortSignal;
  /** True if no worker has failed at this group or died of it. */
  readonly isFirst: boolean;
}

export type IngestGroup = (group: Group, run: Run) => Promise<Outcome>;

/**
 * Ingests new short texts of one caller together. An unusual document gets a job of its own. All documents do when the group
 * has failed, or a worker has died while it ran: a fault of one text never keeps the others from being ingested.
 */
export function createIngestGroup(parts: GroupParts): IngestGroup {
  return async ({ documentIds, callerId, requestId }, { signal, isFirst }) => {
    if (!isFirst) {
      await addSingles(parts, documentIds, requestId);
      return 'done';
    }
    const inTurn: ShortRun['inTurn'] = (work) => parts.turns.run(work, { by: callerId, signal });
    let published = 0;
    for (let left = documentIds.map(newest); left.length > 0;) {
      const done = await parts.ingestShort(left, { signal, inTurn });
      await addSingles(parts, done.others, requestId);
      published += done.published;
      left = left.slice(done.count);
    }
    return published > 0 ? 'published' : 'stale';
  };
}

/** The attempt for which a group is made: later ones have jobs of their own. */
const newest = (documentId: string): Fence => ({ documentId, version: 1, attempt: 1 });

/** Adds the jobs of documents that are ingested alone from now on. One that has its job already gets no other. */
async function addSingles(
  { records, jobs }: GroupParts,
  documentIds: readonly string[],
  requestId: string,
): Promise<void> {
  if (documentIds.length === 0) return;
  const known = await records.readMany(documentIds);
  const waiting = known
    .filter((record) => record !== null)
    .filter((each) => isWaiting(each, newest(each.id)));
  const queued = waiting.map((record) => ({ record }));
  if (queued.length > 0) await jobs.addIngests(queued, { requestId });
}
