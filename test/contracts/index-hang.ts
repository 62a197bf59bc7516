import { expect } from '@jest/globals';
import { limitIndexTime } from '../../src/api/context/open-index.js';
import { UnavailableError } from '../../src/shared/errors.js';
import type { Index, VectorIndex, WordIndex } from '../../src/shared/ports.js';
import { rejection } from '../support/rejection.js';
import { until } from '../support/until.js';

/** The functions that ask the engine. */
type Asking =
  | Exclude<keyof Index, 'name' | 'state' | 'close' | 'vectors' | 'words'>
  | `vectors.${keyof VectorIndex}`
  | `words.${keyof WordIndex}`;
const isDone = () => true;
const isFailed = () => false;

/** Freezes the Redis under an index: every method is given up in time, and answers again once Redis goes on. */
export async function expectGivenUpWhileHung(
  index: Index,
  { pid, vector }: { pid: number; vector: Float32Array },
): Promise<void> {
  const limited = limitIndexTime(index, { milliseconds: 500 });
  const selection = { principal: { id: 'owner' }, filter: null, limit: 1_000 };
  const words = { ...selection, query: 'harbour', minScore: 0 };
  const chunks = await index.vectors.search({ ...selection, vector });
  expect(chunks).not.toEqual([]);
  // By the port's own type: a method that it gets one day has to stand here.
  const ask: Readonly<Record<Asking, () => Promise<unknown>>> = {
    'vectors.search': () => limited.vectors.search({ ...selection, vector }),
    'vectors.similarities': () =>
      limited.vectors.similarities({ principal: { id: 'owner' }, vector, chunks }),
    'words.search': () => limited.words.search(words),
    'words.scores': () => limited.words.scores({ principal: { id: 'owner' }, query: 'harbour', chunks }),
    list: () => limited.list({ ...selection, skip: 0 }),
    count: () => limited.count(selection),
  };
  for (const each of Object.values(ask)) await each();
  process.kill(pid, 'SIGSTOP');
  try {
    for (const each of Object.values(ask)) {
      const started = performance.now();
      expect(await rejection(each())).toBeInstanceOf(UnavailableError);
      // It would wait for as long as Redis is frozen.
      expect(performance.now() - started).toBeLessThan(15_000);
    }
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  for (const each of Object.values(ask)) await until(() => each().then(isDone, isFailed));
}
