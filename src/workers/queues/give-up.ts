import type { Job } from 'bullmq';
import { z } from 'zod';
import type { FailureCode } from '../../shared/errors.js';
import type { WorkerContext } from '../context.js';

/** Fails a document whose job has failed in all its attempts, so that its owner does not wait for ever. */
export function giveUp({ failDocument }: WorkerContext, stage: string) {
  const code: FailureCode = 'internal';
  const fence = z.object({ documentId: z.string(), version: z.number(), attempt: z.number() });
  return (job: Job) =>
    failDocument(fence.parse(job.data), { code, message: 'The document could not be processed', stage });
}
