import { setTimeout as sleep } from 'node:timers/promises';
import type * as source from '../../src/shared/adapters/exact-index/exact-index.js';
import type { VectorType } from '../../src/shared/data-set/stored-vectors.js';
import { importCompiled } from '../support/import-compiled.js';
import { round } from '../support/client.js';
import { rowOf, SETS } from './fill.js';

const POLL_MILLISECONDS = 20;

export interface ExactIndex {
  readonly readySeconds: number;
  /** @returns the rows found, best first, and the milliseconds until then */
  ask(
    vector: Float32Array,
    callerId: string,
    limit: number,
  ): Promise<{ rows: number[]; milliseconds: number }>;
  /** Processor time of this process so far. */
  readonly processorMilliseconds: () => Promise<number>;
  close(): Promise<void>;
}

/** Opens the index that scans all vectors in memory, which the service uses where there is no Query Engine. */
export async function openExactIndex(redisUrl: string, vectorType: VectorType): Promise<ExactIndex> {
  // @NOTE the thread's program exists only compiled: the compiled index is measured, under its source's type.
  const { createExactIndex } = (await importCompiled(
    'shared/adapters/exact-index/exact-index.js',
  )) as typeof source;
  const begun = performance.now();
  const index = await createExactIndex({ redisUrl, vectors: SETS[vectorType], onProblem: console.error });
  while ((await index.state()) !== 'ready') await sleep(POLL_MILLISECONDS);
  const readySeconds = round((performance.now() - begun) / 1_000, 1);
  return {
    readySeconds,
    ask: async (vector, callerId, limit) => {
      const sent = performance.now();
      const found = await index.vectors.search({ vector, principal: { id: callerId }, filter: null, limit });
      const milliseconds = performance.now() - sent;
      const ordered = found.toSorted((a, b) => b.score - a.score);
      return { rows: ordered.map(rowOf), milliseconds };
    },
    processorMilliseconds: () => {
      const { user, system } = process.cpuUsage();
      return Promise.resolve((user + system) / 1_000);
    },
    close: () => index.close(),
  };
}
