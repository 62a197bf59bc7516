import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import { factsOf, formatOf, type FileFormat } from '../../readers/index.js';
import { at } from '../at.js';
import { contentBytes, callerOf, type Content, type DocumentRecord } from '../document.js';
import type { Fence } from '../documents/transitions.js';
import { parseHighlight } from '../page-pictures/highlight.js';
import { toMember } from '../redis/keys.js';
import type { LaneName } from './lanes.js';

const fence = { documentId: z.string(), version: z.number(), attempt: z.number() };
const requestId = z.string();

/** Payloads hold only ids, since dashboards show them. */
export const ingestJob = z.object({ ...fence, requestId });
export const embedJob = z.object({ ...fence, batch: z.number(), batches: z.number(), requestId });
/** The caller in whose turns a job goes on; jobs of earlier versions did not name one. */
const callerId = z.string().default('');
/** New short texts of one caller that are ingested together, all of them the first attempt at the first version. */
export const ingestGroupJob = z.object({ documentIds: z.array(z.string()), callerId: z.string(), requestId });
export const cleanJob = z.object({ generation: z.string(), callerId });
export const retagJob = z.object({ documentId: z.string(), mark: z.number(), callerId, requestId });
/** Either removes documents of attachments of replaced contents, or makes documents of attachments that wait for room. */
export const attachmentsJob = z.object({ documentId: z.string(), requestId });
/**
 * `highlight` is the passage that is marked on the page; `wait` is the wait of the request that asks for the page. Processes
 * of earlier versions read and write the number of a `chunk` alone.
 */
export const renderJob = z
  .object({
    documentId: z.string(),
    generation: z.string(),
    page: z.number(),
    chunk: z.number().nullable().default(null),
    highlight: z.string().nullish(),
    wait: z.string(),
    callerId: z.string(),
    requestId,
  })
  .transform(({ chunk, highlight, ...job }) => ({
    ...job,
    highlight: highlight ?? (chunk === null ? null : String(chunk)),
  }));
export const cacheJob = z.object({ ownerId: z.string(), name: z.string(), build: z.string(), requestId });

/** The ids of jobs name their work, so that a job that waits or runs already is not added again. */
export const jobIds = {
  ingest: ({ documentId, version, attempt }: Fence) =>
    `ingest-${documentId}-${String(version)}-${String(attempt)}`,
  /** The job is in the lane of groups, or in the embedding lane once a provider is to be asked. */
  ingestGroup: (group: string) => `ingest-group-${group}`,
  embed: ({ documentId, version, attempt }: Fence, batch: number) =>
    `embed-${documentId}-${String(version)}-${String(attempt)}-${String(batch)}`,
  clean: (generation: string) => `clean-${generation}`,
  /** A request's own, since nobody else waits for it: pages that are rendered already are not rendered again. */
  render: (wait: string) => `render-${wait}`,
  cache: (build: string) => `cache-${build}`,
  removeReplaced: (documentId: string) => `remove-replaced-${documentId}`,
  makeWaiting: (documentId: string) => `make-waiting-${documentId}`,
  retag: (documentId: string, mark: number) => `retag-${documentId}-${String(mark)}`,
};

/** Our fields in the hash of a job, beside BullMQ's. They go with the job. */
export const jobMarks = {
  /** Deaths of workers, after the first one, while they ran this job alone. */
  deathsAlone: 'quire:deathsAlone',
  /** The number of times that the job's file has given its parser to another caller's. */
  gaveWay: 'quire:gaveWay',
  /** The reason for which the job was last put off. */
  waitsFor: 'quire:waitsFor',
} as const;

/** A job fails when this many worker processes have ended abnormally, or stopped answering, while they ran it. */
export const MAX_DEATHS = 3;

/** The caller for whom a job runs, and the request that caused it. */
export interface JobOrigin {
  readonly callerId: string;
  readonly requestId: string;
}

/** A record that is to be ingested, and the group that it is in if it is ingested with others. */
export interface QueuedRecord {
  readonly record: DocumentRecord;
  readonly group?: string | undefined;
}

interface NewJob {
  readonly name: string;
  readonly data: object;
  readonly opts: JobsOptions;
  readonly cost?: number;
}

/** Jobs for one lane that take turns in the same flow. */
export interface Addition {
  readonly lane: LaneName;
  readonly flow: string;
  readonly jobs: readonly NewJob[];
}

/** Options of jobs that the sweeper may add again under the same id. */
const repeatable: JobsOptions = { removeOnComplete: true, removeOnFail: true };

export function ingestOf(
  record: DocumentRecord,
  { requestId, isPatient = false }: { requestId: string; isPatient?: boolean },
): Addition {
  const data = { ...fenceOf(record), requestId } satisfies z.infer<typeof ingestJob>;
  const opts = { jobId: jobIds.ingest(data) };
  return {
    lane: ingestLane(record.pending),
    flow: flowOf(isPatient ? 'patient' : 'waiting', callerOf(record)),
    jobs: [{ name: 'ingest', data, opts, cost: ingestCost(record) }],
  };
}

/** One addition for each lane and flow. Records of a group share a job in it. */
export function ingestsOf(
  queued: readonly QueuedRecord[],
  options: { requestId: string; isPatient?: boolean },
): Addition[] {
  const additions: Addition[] = [];
  const groups = new Map<string, DocumentRecord[]>();
  for (const { record, group } of queued)
    if (group === undefined) additions.push(ingestOf(record, options));
    else addTo(groups, group, record);
  for (const [group, records] of groups) additions.push(ingestGroupOf(group, records, options));
  const byPlace = new Map<string, Addition[]>();
  for (const addition of additions) addTo(byPlace, `${addition.lane} ${addition.flow}`, addition);
  return [...byPlace.values()].map((same) => ({ ...at(same, 0), jobs: same.flatMap(({ jobs }) => jobs) }));
}

function addTo<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name);
  if (list) list.push(item);
  else lists.set(name, [item]);
}

/** A group costs as much as its documents, so that it takes as many turns. */
function ingestGroupOf(
  group: string,
  records: readonly DocumentRecord[],
  { requestId, isPatient = false }: { requestId: string; isPatient?: boolean },
): Addition {
  const documentIds = records.map(({ id }) => id);
  const callerId = callerOf(at(records, 0));
  const data = { documentIds, callerId, requestId } satisfies z.infer<typeof ingestGroupJob>;
  const cost = records.reduce((sum, record) => sum + ingestCost(record), 0);
  return {
    lane: 'ingestion-groups',
    flow: flowOf(isPatient ? 'patient' : 'waiting', callerId),
    jobs: [{ name: 'ingest-group', data, opts: { jobId: jobIds.ingestGroup(group) }, cost }],
  };
}

export function embedGroupOf(jobId: string, data: z.infer<typeof ingestGroupJob>): Addition {
  const cost = data.documentIds.length;
  return {
    lane: 'embedding',
    flow: flowOf('embed', data.callerId),
    jobs: [{ name: 'embed-group', data, opts: { jobId }, cost }],
  };
}

export function embedsOf(
  { documentId, version, attempt }: Fence,
  batches: readonly number[],
  { total, callerId, requestId }: JobOrigin & { total: number },
): Addition {
  const fence = { documentId, version, attempt };
  const jobs = batches.map((batch) => ({
    name: 'embed',
    data: { ...fence, batch, batches: total, requestId } satisfies z.infer<typeof embedJob>,
    opts: { jobId: jobIds.embed(fence, batch) },
  }));
  return { lane: 'embedding', flow: flowOf('embed', callerId), jobs };
}

export function cleansOf(generations: readonly string[], callerId: string): Addition {
  const jobs = generations.map((generation) => ({
    name: 'clean',
    data: { generation, callerId } satisfies z.infer<typeof cleanJob>,
    opts: { jobId: jobIds.clean(generation), ...repeatable },
  }));
  return { lane: 'maintenance', flow: flowOf('clean', callerId), jobs };
}

export function retagOf(data: z.infer<typeof retagJob>): Addition {
  const opts = { jobId: jobIds.retag(data.documentId, data.mark), ...repeatable };
  const jobs = [{ name: 'retag', data, opts }];
  return { lane: 'maintenance', flow: flowOf('retag', data.callerId), jobs };
}

/** A document whose attachments are left to remove or to make. */
export interface AttachmentWork {
  readonly documentId: string;
  readonly callerId: string;
  readonly requestId: string;
}

export function removeReplacedOf({ callerId, ...data }: AttachmentWork): Addition {
  const opts = { jobId: jobIds.removeReplaced(data.documentId), ...repeatable };
  const jobs = [{ name: 'remove-replaced', data: data satisfies z.infer<typeof attachmentsJob>, opts }];
  return { lane: 'maintenance', flow: flowOf('clean', callerId), jobs };
}

/** It reads the file once more, in the turns that its caller's files have. */
export function makeWaitingOf({ callerId, ...data }: AttachmentWork): Addition {
  const opts = { jobId: jobIds.makeWaiting(data.documentId), ...repeatable };
  const jobs = [{ name: 'make-waiting', data: data satisfies z.infer<typeof attachmentsJob>, opts }];
  return { lane: 'ingestion', flow: flowOf('patient', callerId), jobs };
}

/** One that fails is repeated once, while its caller still waits. */
export function renderOf(data: z.infer<typeof renderJob>): Addition {
  const opts = { jobId: jobIds.render(data.wait), attempts: 2, ...repeatable };
  const { highlight } = data;
  const chunk = highlight === null ? null : parseHighlight(highlight)?.chunk;
  const jobs = [{ name: 'render', data: { ...data, chunk }, opts }];
  return { lane: 'ingestion-pages', flow: flowOf('render', data.callerId), jobs };
}

/** The number of documents that a cache is to have. */
export interface CacheSize {
  readonly documents: number;
}

export function cacheBuildOf(data: z.infer<typeof cacheJob>, { documents }: CacheSize): Addition {
  const opts = { jobId: jobIds.cache(data.build), ...repeatable };
  const cost = Math.min(MAX_COST, 1 + Math.floor(documents / COST_DOCUMENTS));
  const jobs = [{ name: 'build', data, opts, cost }];
  return { lane: cacheLane({ documents }), flow: flowOf('build', data.ownerId), jobs };
}

export const fenceOf = ({ id, version, attempt }: DocumentRecord): Fence => ({
  documentId: id,
  version,
  attempt,
});

export const ingestLane = (content: Content | null): LaneName =>
  content && isQuickContent(content) ? 'ingestion-quick' : 'ingestion';

/** A cache of this many documents costs one more than an empty one. Fewer documents are read within milliseconds. */
const COST_DOCUMENTS = 100;

export const cacheLane = ({ documents }: CacheSize): LaneName =>
  documents <= COST_DOCUMENTS ? 'cache-quick' : 'cache';

/**
 * The flow of a caller's jobs. Each kind has its own, so that callers do not wait for
 * themselves, for example a grant for a removal.
 */
const flowOf = (
  kind: 'waiting' | 'patient' | 'embed' | 'clean' | 'retag' | 'render' | 'build',
  callerId: string,
) => `${kind}:${toMember(callerId)}`;

/** A document of this size costs one more than an empty one. */
const COST_BYTES = 65_536;
const MAX_COST = 1_000;

function ingestCost({ pending }: DocumentRecord): number {
  // A record without pending content has nothing left to read.
  return Math.min(MAX_COST, 1 + Math.floor(contentBytes(pending) / COST_BYTES));
}

/** The part of a file that is read in a second, more or less. */
const BYTES_A_SECOND = 1024 * 1024;

/** The lane where a begun job goes on, and the cost of that. */
export interface NextTurn {
  readonly lane: LaneName;
  readonly flow: string;
  /** The cost of the turn that is over, beyond what the caller was charged before it began. */
  readonly spent: number;
  readonly cost: number;
}

export const nextTurnOf = (kind: 'clean' | 'retag', callerId: string): NextTurn => ({
  lane: 'maintenance',
  flow: flowOf(kind, callerId),
  spent: 0,
  cost: 1,
});

/** Files that are read at once are charged by their size alone: without a bound, many of them would go before one that lasts. */
const MAX_CHARGED_SECONDS = 5;

/**
 * Seconds of a parser cost as much as a document of the size that is read in them. They are charged when they are over, so that
 * the file waits behind those that were not begun yet.
 */
export const nextReadingOf = (callerId: string, seconds: number): NextTurn => ({
  lane: 'ingestion',
  flow: flowOf('waiting', callerId),
  spent: 1 + Math.floor((Math.min(seconds, MAX_CHARGED_SECONDS) * BYTES_A_SECOND) / COST_BYTES),
  cost: 0,
});

/** Up to this size, content that takes time by its length alone is read within a second. */
const QUICK_BYTES = 1024 * 1024;

/** Tells whether content of this format and size is read so quickly that it need not wait behind slow content. */
export function isQuick(format: FileFormat, sizeBytes: number): boolean {
  return sizeBytes <= QUICK_BYTES && factsOf(format).isLinear;
}

interface SourceSize {
  readonly kind: 'text' | 'file';
  readonly contentType: string;
  readonly sizeBytes: number;
}

export function isQuickContent({ kind, contentType, sizeBytes }: SourceSize): boolean {
  const format = kind === 'text' ? 'text' : formatOf(contentType);
  return format !== undefined && isQuick(format, sizeBytes);
}
