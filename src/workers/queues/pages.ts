import { createPagePictures } from '../../shared/page-pictures/page-pictures.js';
import { createPageWaits, MAX_PAGE_WAITS } from '../../shared/page-pictures/page-waits.js';
import { renderJob } from '../../shared/queues/payloads.js';
import type { WorkerContext } from '../context.js';
import { requireMemory } from '../ingestion/write-only-with-memory.js';
import { createPageTurns } from '../pages/page-turns.js';
import { createRenderPage } from '../pages/render-job.js';
import type { ParserPool } from '../parse/pool.js';
import type { LaneService } from './queue-service.js';

/**
 * Every request that waits has its job in hand, so that the one goes next whose caller has used least; and as many pages are
 * drawn at last whose requests have left.
 */
const JOBS_AT_ONCE = 2 * MAX_PAGE_WAITS;

/** The lane of pages that callers wait to see. */
export function pageLane(context: WorkerContext, parser: ParserPool): LaneService {
  const pictures = createPagePictures(context.redis);
  const run = createRenderPage({
    ...context,
    parser,
    pictures,
    waits: createPageWaits(context.redis),
    turns: createPageTurns(),
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
