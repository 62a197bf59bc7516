import type { Job } from 'bullmq';
import { z } from 'zod';
import type { FailureCode } from '../../shared/errors.js';
import type { WorkerContext } from '../context.js';
import type { JobFailReason } from '../lane-worker.js';
import { MAX_DEATHS } from '../../shared/queues/job-kinds.js';

/** The reasons that an owner is told after the statement of the failure. */
export const REASONS: Readonly<Record<JobFailReason, string>> = {
  failed: '',
  poison: `: the worker ended abnormally or stopped answering ${String(MAX_DEATHS)} times during it`,
};

/** Fails a document whose job will not be run again, so that its owner does not wait for ever. */
export function failJob({ failDocument }: WorkerContext, stage: string) {
  const code: FailureCode = 'internal';
  const fence = z.object({ documentId: z.string(), version: z.number(), attempt: z.number() });
  return (job: Job, reason: JobFailReason) => {
    const message = `The document could not be processed${REASONS[reason]}`;
    return failDocument(fence.parse(job.data), { code, message, stage });
  };
}
