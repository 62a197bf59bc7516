import type { Records } from '../../shared/documents/records.js';
import { isCurrent, type Fence } from '../../shared/documents/transitions.js';

const WATCH_MILLISECONDS = 1_000;

/**
 * Makes a signal that also aborts when the attempt is cancelled, deleted or superseded, so that no parser works on a result
 * that is no longer needed.
 */
export function abortWhenSuperseded(records: Pick<Records, 'read'>, fence: Fence, stopping: AbortSignal) {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(stopping.reason);
  };
  // `AbortSignal.any` is not used: it would leave a reference at the worker's signal for each document.
  stopping.addEventListener('abort', abort, { once: true });
  if (stopping.aborted) abort();
  const look = async () => {
    const record = await records.read(fence.documentId);
    if (!record || !isCurrent(record, fence)) abort();
  };
  const timer = setInterval(() => {
    // A failure does no harm: the check is repeated, and the next write checks the attempt itself.
    look().catch(() => undefined);
  }, WATCH_MILLISECONDS);
  return {
    signal: controller.signal,
    stop: () => {
      clearInterval(timer);
      stopping.removeEventListener('abort', abort);
    },
  };
}
