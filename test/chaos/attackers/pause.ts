import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../arena.js';

/** Goes on when the time is over, or at once when the attack is. */
export async function pause(
  { random }: Actor,
  signal: AbortSignal,
  [min, max]: readonly [number, number],
): Promise<void> {
  await sleep(random.whole(min, max), undefined, { signal }).catch(() => undefined);
}

export async function untilOver(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) await act();
}
