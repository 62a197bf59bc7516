import type { DocumentRecord } from '../../shared/document.js';
import type { Jobs } from '../../shared/jobs.js';
import type { Logger } from '../../shared/logger.js';

/** Who asks, and whether they wait. An ApiRequest is one. */
export interface JobRequest {
  readonly caller: { readonly id: string };
  readonly requestId: string;
  readonly prefer: { readonly waitSeconds: number | null; readonly respondAsync: boolean };
}

export interface JobRequests {
  ingest(record: DocumentRecord, request: Pick<JobRequest, 'requestId' | 'prefer'>): Promise<void>;
  /** The attempt is over before its job had its turn: jobs nobody needs must not pile up. */
  forgetIngest(record: DocumentRecord): Promise<void>;
  retag(record: DocumentRecord, request: Pick<JobRequest, 'requestId' | 'caller'>): Promise<void>;
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
    ingest: (record, { requestId, prefer }) => {
      const isPatient = (prefer.waitSeconds ?? (prefer.respondAsync ? 0 : null)) === 0;
      return attempt('ingest', () => jobs.addIngest(record, { requestId, isPatient }));
    },
    forgetIngest: (record) => attempt('forget', () => jobs.removeIngest(record)),
    retag: ({ id, retag }, { caller, requestId }) =>
      attempt('retag', () => jobs.addRetag(id, retag, { callerId: caller.id, requestId })),
    clean: async (generations, callerId) => {
      if (generations.length > 0) await attempt('clean', () => jobs.addCleans(generations, callerId));
    },
  };
}
