import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { UnavailableError } from '../../src/shared/errors.js';
import type { Index } from '../../src/shared/ports.js';
import { chunkCount, documentCount, isReady, listCount } from './query-engine-bench.js';

/** The different counts that an index told, and how often it told none. */
export interface AnswersMeanwhile {
  readonly chunks: ReadonlySet<number>;
  readonly documents: ReadonlySet<number>;
  readonly refusals: number;
}

/** Asks without a pause until the index is ready again; fails where it rejects with anything but an UnavailableError. */
export async function askUntilReady(index: Index): Promise<AnswersMeanwhile> {
  const answers = { chunks: new Set<number>(), documents: new Set<number>(), refusals: 0 };
  const ask = async (count: (of: Index) => Promise<number>, into: Set<number>) => {
    try {
      into.add(await count(index));
    } catch (error) {
      expect(error).toBeInstanceOf(UnavailableError);
      answers.refusals += 1;
    }
  };
  // The first of these rounds notices lost data at the latest.
  for (let rounds = 0; rounds < 5 || !(await isReady(index)()); rounds += 1) {
    await Promise.all([
      ask(chunkCount, answers.chunks),
      ask(documentCount, answers.documents),
      ask(listCount, answers.documents),
    ]);
    await sleep(2);
  }
  return answers;
}

/** Each answer was the whole. */
export function expectOnly(
  { chunks, documents }: AnswersMeanwhile,
  whole: { readonly chunks: number; readonly documents: number },
): void {
  expect([...chunks].filter((count) => count !== whole.chunks)).toEqual([]);
  expect([...documents].filter((count) => count !== whole.documents)).toEqual([]);
}
