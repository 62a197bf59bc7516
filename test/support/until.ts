import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition to hold, five seconds at most unless told otherwise. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 5): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`never came true: ${holds.toString()}`);
    await sleep(5);
  }
}
