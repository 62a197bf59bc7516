import type { DocumentRecord } from '../../shared/document.js';
import type { Jobs } from '../../shared/jobs.js';
import type { Logger } from '../../shared/logger.js';

export interface JobRequests {
  ingest(record: DocumentRecord, requestId: string): Promise<void>;
  retag(record: DocumentRecord, requestId: string): Promise<void>;
  clean(generations: readonly string[]): Promise<void>;
}

/**
 * Asks workers to go on with what a record says. The record is written by then and the sweeper acts on it, so a job
 * that cannot be added is logged and fails nothing.
 */
export function createJobRequests(
  jobs: Pick<Jobs, 'addIngest' | 'addRetag' | 'addCleans'>,
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
    ingest: ({ id, version, attempt: number }, requestId) =>
      attempt('ingest', () => jobs.addIngest({ documentId: id, version, attempt: number }, requestId)),
    retag: ({ id, retag }, requestId) => attempt('retag', () => jobs.addRetag(id, retag, requestId)),
    clean: async (generations) => {
      if (generations.length > 0) await attempt('clean', () => jobs.addCleans(generations));
    },
  };
}
