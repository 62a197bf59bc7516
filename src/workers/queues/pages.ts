import { createPagePictures } from '../../shared/page-pictures/page-pictures.js';
import { createPageWaits } from '../../shared/page-pictures/page-waits.js';
import { renderJob } from '../../shared/queues/payloads.js';
import type { WorkerContext } from '../context.js';
import { requireMemory } from '../ingestion/write-only-with-memory.js';
import { createRenderPage } from '../pages/render-job.js';
import type { ParserPool } from '../parse/pool.js';
import type { LaneService } from './queue-service.js';

/** While one page is rendered, the source of the next is copied. Others wait in their callers' turns. */
const PAGES_AT_ONCE = 2;

/** The lane of pages that callers wait to see. */
export function pageLane(context: WorkerContext, parser: ParserPool): LaneService {
  const pictures = createPagePictures(context.redis);
  const run = createRenderPage({
    ...context,
    parser,
    pictures,
    waits: createPageWaits(context.redis),
    requireMemory: () => requireMemory(context.memory),
  });
  return {
    lane: 'ingestion-pages',
    concurrency: PAGES_AT_ONCE,
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
