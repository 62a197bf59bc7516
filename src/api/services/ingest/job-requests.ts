import type { DocumentRecord } from '../../../shared/document.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { RequestContext } from '../request-context.js';

export interface JobRequests {
  ingest(record: DocumentRecord, context: Pick<RequestContext, 'requestId' | 'waitSeconds'>): Promise<void>;
  /** The attempt is over before its job had its turn: jobs nobody needs must not pile up. */
  forgetIngest(record: DocumentRecord): Promise<void>;
  retag(record: DocumentRecord, context: Pick<RequestContext, 'requestId' | 'callerId'>): Promise<void>;
  clean(generations: readonly string[], callerId: string): Promise<void>;
}

/**
 * Asks workers to go on with what a record says. The record is written by then and the sweeper acts on it, so a job
 * that cannot be added is logged and fails nothing.
 */
export function createJobRequests(
  jobs: Pick<Jobs, 'addIngest' | 'removeIngest' | 'addRetag' | 'addCleans'>,
  logger: Logger,
): JobRequests {
  const attempt = async (job: string, add: () => Promise<void>) => {
    try {
      await add();
    } catch (error) {
      logger.warn({ err: error, job }, 'job left to the sweeper');
    }
  };
  return {
    // Those who wait go first.
    ingest: (record, { requestId, waitSeconds }) =>
      attempt('ingest', () => jobs.addIngest(record, { requestId, isPatient: waitSeconds === 0 })),
    forgetIngest: (record) => attempt('forget', () => jobs.removeIngest(record)),
    retag: ({ id, retag }, { callerId, requestId }) =>
      attempt('retag', () => jobs.addRetag(id, retag, { callerId, requestId })),
    clean: async (generations, callerId) => {
      if (generations.length > 0) await attempt('clean', () => jobs.addCleans(generations, callerId));
    },
  };
}
