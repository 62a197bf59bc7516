import {
  keyOf,
  type PageId,
  type PagePictures,
  type RenderOutcome,
} from '../../../shared/page-pictures/page-pictures.js';
import type { PageWaits } from '../../../shared/page-pictures/page-waits.js';
import { TryLaterError } from '../../../shared/errors.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { RequireRoom } from '../ingest/admission/require-room.js';
import type { ChangeWaiter } from '../ingest/change-waiter.js';
import type { DocumentRequest } from './document-access.js';

interface Dependencies {
  readonly pictures: Pick<PagePictures, 'outcome'>;
  readonly waits: Pick<PageWaits, 'enter' | 'leave'>;
  readonly jobs: Pick<Jobs, 'addRender'>;
  readonly waiter: ChangeWaiter;
  readonly room: Pick<RequireRoom, 'forGrowth'>;
}

/**
 * Has an ingestion worker render a page, in the caller's turn, and waits for it until `end`.
 * @throws TooManyError and TryLaterError while others wait; TryLaterError without room in Redis, or when it takes too long
 */
export type RenderPage = (id: PageId, request: RenderRequest) => Promise<RenderOutcome>;

interface RenderRequest extends DocumentRequest {
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** As `performance.now` counts. */
  readonly end: number;
}

export const late = () => new TryLaterError('The page was not rendered in time', { retryAfterSeconds: 5 });

export function createRenderPage({ pictures, waits, jobs, waiter, room }: Dependencies): RenderPage {
  return async (id, { documentId, callerId, requestId, signal, end }) => {
    const milliseconds = Math.ceil(end - performance.now());
    if (milliseconds <= 0) throw late();
    await room.forGrowth('pictures of pages');
    const wait = await waits.enter(callerId, milliseconds);
    try {
      await jobs.addRender({ ...id, documentId, wait, callerId, requestId });
      const read = () => pictures.outcome(id);
      const isDone = (outcome: RenderOutcome | null) => outcome !== null;
      const outcome = await waiter.waitFor({ id: keyOf(id), read, isDone, milliseconds, signal });
      signal.throwIfAborted();
      if (!outcome) throw late();
      return outcome;
    } finally {
      // One that stays is gone when its time is over.
      await waits.leave(callerId, wait).catch(() => undefined);
    }
  };
}
