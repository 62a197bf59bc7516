import type { DocumentRecord } from '../../../shared/document.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { QueuedRecord } from '../../../shared/queues/job-kinds.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { RequestContext } from '../request-context.js';

export interface JobRequests {
  ingest(record: DocumentRecord, context: Pick<RequestContext, 'requestId' | 'waitSeconds'>): Promise<void>;
  /** The same for many records of one caller. Those of a group get one job. */
  ingestAll(
    queued: readonly QueuedRecord[],
    context: Pick<RequestContext, 'requestId' | 'waitSeconds'>,
  ): Promise<void>;
  /** Removes the job of an attempt that ended while the job was waiting, so that useless jobs do not pile up. */
  forgetIngest(record: DocumentRecord): Promise<void>;
  retag(record: DocumentRecord, context: Pick<RequestContext, 'requestId' | 'callerId'>): Promise<void>;
  /** Has the documents made or removed that are left to make or remove for a document's attachments. */
  attachments(record: DocumentRecord, context: Pick<RequestContext, 'requestId'>): Promise<void>;
  clean(generations: readonly string[], callerId: string): Promise<void>;
}

/**
 * Adds jobs for workers. By then the record is written, and the sweep adds a job for it if one is missing. So a job that
 * cannot be added is only logged.
 */
export function createJobRequests(
  jobs: Pick<
    Jobs,
    'addIngest' | 'addIngests' | 'removeIngest' | 'addRetag' | 'addAttachmentWork' | 'addCleans'
  >,
  logger: Logger,
): JobRequests {
  const attempt = async (job: string, add: () => Promise<void>) => {
    try {
      await add();
    } catch (error) {
      logger.warn({ err: error, job }, 'job left to the sweep');
    }
  };
  return {
    // Callers that wait for their document go first.
    ingest: (record, { requestId, waitSeconds }) =>
      attempt('ingest', () => jobs.addIngest(record, { requestId, isPatient: waitSeconds === 0 })),
    ingestAll: (queued, { requestId, waitSeconds }) =>
      attempt('ingest', () => jobs.addIngests(queued, { requestId, isPatient: waitSeconds === 0 })),
    forgetIngest: (record) => attempt('forget', () => jobs.removeIngest(record)),
    retag: ({ id, retag }, { callerId, requestId }) =>
      attempt('retag', () => jobs.addRetag(id, retag, { callerId, requestId })),
    attachments: (record, { requestId }) =>
      attempt('attachments', () => jobs.addAttachmentWork(record, { requestId })),
    clean: async (generations, callerId) => {
      if (generations.length > 0) await attempt('clean', () => jobs.addCleans(generations, callerId));
    },
  };
}
