import type { Records } from '../../shared/documents/records.js';
import { isCurrent, READING_SHARE, reportProgress, type Fence } from '../../shared/documents/transitions.js';

const WATCH_MILLISECONDS = 1_000;

/**
 * Watches an attempt while its file is read. Once a second, it writes how far the parser is. Its signal also aborts when the
 * attempt is cancelled, deleted or superseded, so that no parser works on a result that is no longer needed.
 */
export function watchReading(
  records: Pick<Records, 'read' | 'update'>,
  fence: Required<Fence>,
  stopping: AbortSignal,
) {
  const controller = new AbortController();
  let share = 0;
  const abort = () => {
    controller.abort(stopping.reason);
  };
  // `AbortSignal.any` is not used: it would leave a reference at the worker's signal for each document.
  stopping.addEventListener('abort', abort, { once: true });
  if (stopping.aborted) abort();
  let told = 0;
  const look = async () => {
    const news = share;
    const isNews = news > told;
    const report = { ...fence, stage: 'parsing', progress: READING_SHARE * news };
    const record = isNews
      ? (await records.update(fence.documentId, (each) => reportProgress(each, report))).record
      : await records.read(fence.documentId);
    if (isNews) told = news;
    if (!record || !isCurrent(record, fence)) abort();
  };
  const timer = setInterval(() => {
    // A failure does no harm: the check is repeated, and the next write checks the attempt itself.
    look().catch(() => undefined);
  }, WATCH_MILLISECONDS);
  return {
    signal: controller.signal,
    /** @param read which share of the document's parts is read, from 0 to 1 */
    onProgress: (read: number): void => {
      share = read;
    },
    stop: () => {
      clearInterval(timer);
      stopping.removeEventListener('abort', abort);
    },
  };
}
