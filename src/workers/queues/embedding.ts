import { embedJob } from '../../shared/queues/payloads.js';
import type { WorkerContext } from '../context.js';
import { createEmbedJob } from '../ingestion/embed-job.js';
import { writeOnlyWithMemory } from '../ingestion/write-only-with-memory.js';
import { failJob } from './fail-job.js';
import { groupHandler } from './group-handler.js';
import type { LaneService, QueueService } from './queue-service.js';

export function serveEmbedding(context: WorkerContext): QueueService {
  const run = createEmbedJob({ ...context, chunks: writeOnlyWithMemory(context.chunks, context.memory) });
  const handlers: LaneService['handlers'] = {
    embed: {
      run: (job, signal) => run(embedJob.parse(job.data), { signal }),
      failJob: failJob(context, 'embedding'),
    },
    'embed-group': groupHandler(context),
  };
  return {
    lanes: [{ lane: 'embedding', concurrency: context.settings.workers.embeddingConcurrency, handlers }],
  };
}
