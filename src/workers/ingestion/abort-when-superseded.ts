import type { Records } from '../../shared/documents/records.js';
import { isCurrent, type Fence } from '../../shared/documents/transitions.js';

const WATCH_MILLISECONDS = 1_000;

/**
 * A signal that also aborts when the attempt is cancelled, deleted or superseded, so that no parser is held up by what
 * nobody wants any more.
 */
export function watchForOvertaking(records: Pick<Records, 'read'>, fence: Fence, stopping: AbortSignal) {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(stopping.reason);
  };
  // Not `AbortSignal.any`, of which something would stay with the worker's own signal for each document.
  stopping.addEventListener('abort', abort, { once: true });
  if (stopping.aborted) abort();
  const look = async () => {
    const record = await records.read(fence.documentId);
    if (!record || !isCurrent(record, fence)) abort();
  };
  const timer = setInterval(() => {
    // A look that fails is made up for by the next one, and by the fence of the step that follows.
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
