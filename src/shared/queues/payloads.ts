import { z } from 'zod';
import type { Fence } from '../documents/transitions.js';

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
/** `chunk` is the number of the chunk that is marked on the page; `wait` is the wait of the request that asks for the page. */
export const renderJob = z.object({
  documentId: z.string(),
  generation: z.string(),
  page: z.number(),
  chunk: z.number().nullable(),
  wait: z.string(),
  callerId: z.string(),
  requestId,
});
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
