import { createPagePictures } from '../../shared/page-pictures/page-pictures.js';
import { createDecayedUsage } from '../../shared/fair-scheduling/decayed-usage.js';
import { createTurns } from '../../shared/fair-scheduling/turns.js';
import { createPageWaits, MAX_PAGE_WAITS } from '../../shared/page-pictures/page-waits.js';
import { renderJob } from '../../shared/queues/payloads.js';
import type { WorkerContext } from '../context.js';
import { requireMemory } from '../ingestion/write-only-with-memory.js';
import { createRenderPage } from '../pages/render-job.js';
import type { ParserPool } from '../parse/pool.js';
import type { LaneService } from './queue-service.js';

/** Every request that waits has its job in hand, so that the one goes next whose caller has used least. */
const JOBS_AT_ONCE = MAX_PAGE_WAITS;

/** The lane of pages that callers wait to see. */
export function pageLane(context: WorkerContext, parser: ParserPool): LaneService {
  const pictures = createPagePictures(context.redis);
  const run = createRenderPage({
    ...context,
    parser,
    pictures,
    waits: createPageWaits(context.redis),
    turns: createTurns(1, { usage: createDecayedUsage() }),
    requireMemory: () => requireMemory(context.memory),
  });
  return {
    lane: 'ingestion-pages',
    concurrency: JOBS_AT_ONCE,
    handlers: {
      render: {
        run: ({ data }, signal) => run(renderJob.parse(data), signal),
        failJob: ({ data }) =>
          pictures.fail(renderJob.parse(data), {
            code: 'internal',
            message: 'The page could not be rendered',
          }),
      },
    },
  };
}
