import { setTimeout as sleep } from 'node:timers/promises';

/** What takes a second alone may take a while where others fill the machine. It ends before a test's own time does. */
const PATIENCE_SECONDS = 90;

/** Waits for a condition to hold. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  seconds = PATIENCE_SECONDS,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`never came true: ${holds.toString()}`);
    await sleep(5);
  }
}
