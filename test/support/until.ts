import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition to hold, five seconds at most. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 5000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`never came true: ${holds.toString()}`);
    await sleep(5);
  }
}
