import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;

/** Reads a figure all the time during a task. @returns the task's result, with the least and the most that the figure was */
export async function watchFigure<Result>(read: () => Promise<number>, during: () => Promise<Result>) {
  const over = new AbortController();
  const seen = { least: Infinity, most: -Infinity };
  const look = async () => {
    while (!over.signal.aborted) {
      const figure = await read();
      seen.least = Math.min(seen.least, figure);
      seen.most = Math.max(seen.most, figure);
      await sleep(EVERY_MS);
    }
  };
  const task = during().finally(() => {
    over.abort();
  });
  const [result] = await Promise.all([task, look()]);
  return { result, ...seen };
}
