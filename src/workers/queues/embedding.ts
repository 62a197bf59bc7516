import { embedJob } from '../../shared/queues/job-kinds.js';
import type { WorkerContext } from '../context.js';
import { createEmbedJob } from '../ingestion/embed-job.js';
import { writeOnlyWithMemory } from '../ingestion/write-only-with-memory.js';
import { failJob } from './fail-job.js';
import { groupHandler } from './group-handler.js';
import type { LaneService, QueueService } from './queue-service.js';

/** The greatest number of embedding jobs at once where this process makes the vectors; more would only hold up others. */
const EMBEDDED_HERE_AT_ONCE = 8;

export function serveEmbedding(context: WorkerContext): QueueService {
  const run = createEmbedJob({ ...context, chunks: writeOnlyWithMemory(context.chunks, context.memory) });
  const handlers: LaneService['handlers'] = {
    embed: {
      run: (job, signal) => run(embedJob.parse(job.data), { signal }),
      failJob: failJob(context, 'embedding'),
    },
    'embed-group': groupHandler(context),
  };
  const { embeddingConcurrency } = context.settings.workers;
  const concurrency = context.isEmbeddingRemote
    ? embeddingConcurrency
    : Math.min(embeddingConcurrency, EMBEDDED_HERE_AT_ONCE);
  return { lanes: [{ lane: 'embedding', concurrency, handlers }] };
}
