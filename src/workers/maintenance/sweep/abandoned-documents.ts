import { z } from 'zod';
import { at } from '../../../shared/at.js';
import { batchCount } from '../../../shared/batches.js';
import { DOCUMENT_STATUSES, documentSchema, generationId, isFinal } from '../../../shared/document.js';
import {
  hasAttachmentWork,
  removalsOf,
  waitingOf,
} from '../../../shared/documents/attachments/attachment-changes.js';
import { GROUP_FIELD } from '../../../shared/documents/record-fields.js';
import { requeue } from '../../../shared/documents/transitions.js';
import { GROUP_LANES, type LaneName } from '../../../shared/queues/lanes.js';
import { jobIds } from '../../../shared/queues/job-kinds.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys, toMember } from '../../../shared/redis/keys.js';
import { declareScript, evenWhenFull } from '../../../shared/redis/script.js';
import { allAtOnce, type SweepParts, type SweepTask } from './sweep-task.js';

const PAGE = 200;
/** One sweep handles at most this many documents, so that it ends within seconds. The next sweep continues after them. */
const MAX_DOCUMENTS = 20_000;

/** The fields of a record that tell whether it should have a job. */
const viewSchema = z.object({
  id: z.string(),
  ownerId: z.string(),
  version: z.number(),
  attempt: z.number(),
  status: z.enum(DOCUMENT_STATUSES),
  retag: z.number(),
  revision: z.number(),
  pending: z.object({ storageKey: z.string() }).nullable(),
  published: documentSchema.shape.published,
  replacedAttachments: documentSchema.shape.replacedAttachments,
});
/** The fields of a document, and the group of new documents that it was put into. */
type View = z.infer<typeof viewSchema> & { readonly group: string | null };
const FIELDS = Object.keys(viewSchema.shape);

/**
 * Looks at unfinished documents that were not changed for a while, the oldest first, and adds jobs for documents without
 * one. A document that was looked at comes again after all others. Each page takes a few round trips.
 */
export function abandonedDocumentsTask(
  parts: SweepParts,
  onRequeued: (documents: number) => void,
): SweepTask {
  const { redis, workOffSet, graceMs } = parts;
  return {
    name: 'documents',
    begin: (now) => {
      let looked = 0;
      return async () => {
        const ids = await redis.zRange(keys.unfinished, '-inf', now - graceMs, {
          BY: 'SCORE',
          LIMIT: { offset: 0, count: PAGE },
        });
        if (ids.length === 0) return false;
        // The order is changed before the work, so that a document that always fails does not hold up the others.
        const seen = ids.map((value) => ({ value, score: Date.now() }));
        await redis.zAdd(keys.unfinished, seen, { condition: 'XX' });
        const views = await readViews(parts, ids);
        await addRetags(parts, views);
        await addAttachmentWork(parts, views);
        const running = views.filter((view) => !isFinal(view));
        await countOlderIngests(redis, running);
        const abandoned = await findAbandoned(parts, running);
        const requeued = await allAtOnce(workOffSet, 'unfinished', abandoned, (view) =>
          requeueDocument(parts, view),
        );
        if (requeued.length > 0) onRequeued(requeued.length);
        looked += ids.length;
        return ids.length === PAGE && looked < MAX_DOCUMENTS;
      };
    },
  };
}

/** Reads the records of these documents, and takes documents without one off the list. */
async function readViews({ redis, workOffSet }: SweepParts, ids: readonly string[]): Promise<View[]> {
  const views: View[] = [];
  const missing: string[] = [];
  const read = async (id: string) => {
    const values = await redis.hmGet(keys.document(id), [...FIELDS, GROUP_FIELD]);
    if (values.every((value) => value == null)) {
      missing.push(id);
      return;
    }
    const fields = FIELDS.map((name, i): [string, unknown] => [name, JSON.parse(values[i] ?? 'null')]);
    views.push({ ...viewSchema.parse(Object.fromEntries(fields)), group: values[FIELDS.length] ?? null });
  };
  await allAtOnce(workOffSet, 'unfinished', ids, read);
  await forgetMissing(redis, missing);
  return views;
}

async function addRetags({ jobs, workOffSet }: SweepParts, views: readonly View[]): Promise<void> {
  const marked = views.filter(({ retag }) => retag > 0);
  const wanted = marked.map(({ id, retag }) => ({
    lane: 'maintenance' as const,
    id: jobIds.retag(id, retag),
  }));
  const live = await jobs.areLive(wanted);
  const left = marked.filter((_, i) => !live[i]);
  const add = ({ id, retag, ownerId }: View) =>
    jobs.addRetag(id, retag, { callerId: ownerId, requestId: 'sweep' });
  await allAtOnce(workOffSet, 'unfinished', left, add);
}

async function addAttachmentWork({ jobs, workOffSet }: SweepParts, views: readonly View[]): Promise<void> {
  const marked = views.filter(hasAttachmentWork);
  const wanted = marked.map(({ id }) => [
    { lane: 'maintenance' as const, id: jobIds.removeReplaced(id) },
    { lane: 'ingestion' as const, id: jobIds.makeWaiting(id) },
  ]);
  const live = await jobs.areLive(wanted.flat());
  const left = marked.filter((view, i) => {
    const isRemoved = removalsOf(view).length === 0 || live[2 * i] === true;
    const isMade = waitingOf(view).length === 0 || live[2 * i + 1] === true;
    return !isRemoved || !isMade;
  });
  await allAtOnce(workOffSet, 'unfinished', left, (view) =>
    jobs.addAttachmentWork(view, { requestId: 'sweep' }),
  );
}

const fenceOf = ({ id, version, attempt }: View) => ({ documentId: id, version, attempt });

/** Finds documents that are not final and have neither an ingest job nor all the embed jobs that they need. */
async function findAbandoned(parts: SweepParts, running: readonly View[]): Promise<View[]> {
  const { jobs, workOffSet } = parts;
  const wanted = running.map(jobsOf);
  const live = await jobs.areLive(wanted.flat());
  let next = 0;
  const rest = running.filter((_, i) => {
    const first = next;
    next += at(wanted, i).length;
    return !live.slice(first, next).some(Boolean);
  });
  const abandoned: View[] = [];
  const look = async (view: View) => {
    if (!(await isBeingEmbedded(parts, view))) abandoned.push(view);
  };
  await allAtOnce(workOffSet, 'unfinished', rest, look);
  return abandoned;
}

/** Returns the jobs any of which ingests a document: its own, or the job of its group. */
function jobsOf(view: View): { readonly lane: LaneName; readonly id: string }[] {
  const own = jobIds.ingest(fenceOf(view));
  const alone = [
    { lane: 'ingestion', id: own },
    { lane: 'ingestion-quick', id: own },
  ] as const;
  // A group is only for the first attempt. Those that follow have jobs of their own.
  if (view.group === null || view.version > 1 || view.attempt > 1) return [...alone];
  const id = jobIds.ingestGroup(view.group);
  return [...alone, ...GROUP_LANES.map((lane) => ({ lane, id }))];
}

/** Tells whether each unfinished batch has a job or, when all are finished, whether some job is about to publish. */
async function isBeingEmbedded({ chunks, jobs }: SweepParts, view: View): Promise<boolean> {
  const generation = generationId(view);
  const info = await chunks.generation(generation);
  // There is no generation, or not all of its texts are written yet.
  if (!info || info.chunks === 0) return false;
  const batches = batchCount(info.chunks);
  const numbers = Array.from({ length: batches }, (_, batch) => batch);
  const [finished, live] = await Promise.all([
    Promise.all(numbers.map((batch) => chunks.isFinished(generation, batch))),
    jobs.areLive(numbers.map((batch) => ({ lane: 'embedding', id: jobIds.embed(fenceOf(view), batch) }))),
  ]);
  return numbers.every((batch) => finished[batch] === true || live[batch] === true) && live.some(Boolean);
}

async function requeueDocument({ records, jobs }: SweepParts, found: View): Promise<void> {
  const { record, changed } = await records.update(found.id, (each) =>
    each.revision === found.revision && each.pending ? requeue(each) : null,
  );
  if (record && changed) await jobs.addIngest(record, { requestId: 'sweep' });
}

interface RunningIngest {
  readonly id: string;
  readonly ownerId: string;
}

/**
 * Counts running ingests that an earlier version of this program started without counting them.
 * All others are counted by the commit of their record.
 */
export async function countOlderIngests(redis: Redis, running: readonly RunningIngest[]): Promise<void> {
  const counted = await Promise.all(running.map(({ id }) => redis.hExists(keys.ingests, id)));
  const missing = running.filter((_, i) => counted[i] !== 1);
  await Promise.all(
    missing.map(({ id, ownerId }) =>
      countScript.run(redis, {
        keys: { record: keys.document(id), ingests: keys.ingests, callers: keys.ingestsByCaller },
        args: { id, owner: toMember(ownerId) },
      }),
    ),
  );
}

const countScript = declareScript({
  keys: { record: 'key', ingests: 'key', callers: 'key' },
  args: { id: 'text', owner: 'text' },
}).lua<number>(`
local status = redis.call('HGET', record, 'status')
if status ~= '"queued"' and status ~= '"processing"' then return 0 end
if redis.call('HSETNX', ingests, id, owner) == 0 then return 0 end
redis.call('ZINCRBY', callers, 1, owner)
return 1
`);

/**
 * Takes documents off the lists of running work if their records do not exist. The commit of a removal does so itself;
 * this is for records that were lost in another way, such as by hand.
 */
async function forgetMissing(redis: Redis, ids: readonly string[]): Promise<void> {
  await Promise.all(
    ids.map((id) =>
      forgetScript.run(redis, {
        keys: {
          record: keys.document(id),
          unfinished: keys.unfinished,
          ingests: keys.ingests,
          callers: keys.ingestsByCaller,
        },
        args: { id },
      }),
    ),
  );
}

const forgetScript = declareScript({
  keys: { record: 'key', unfinished: 'key', ingests: 'key', callers: 'key' },
  args: { id: 'text' },
}).lua<number>(`
${evenWhenFull('hash', 'ingests')}
if redis.call('EXISTS', record) == 1 then return 0 end
redis.call('ZREM', unfinished, id)
local caller = redis.call('HGET', ingests, id)
if not caller then return 1 end
redis.call('HDEL', ingests, id)
if tonumber(redis.call('ZINCRBY', callers, -1, caller)) <= 0 then redis.call('ZREM', callers, caller) end
return 1
`);
