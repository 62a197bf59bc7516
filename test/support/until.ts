import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Work that takes a second alone may take a while where others fill the machine. The patience ends before a test's own time
 * does.
 */
const PATIENCE_SECONDS = 90;

const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;

/**
 * Waits for a condition to hold. It asks less often the longer it has waited, since asking takes the processor from what it
 * waits for: by a twentieth at most does the wait become longer.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  seconds = PATIENCE_SECONDS,
): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    const waited = performance.now() - began;
    if (waited > seconds * 1000) throw new Error(`never came true: ${holds.toString()}`);
    await sleep(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waited / 20)));
  }
}
