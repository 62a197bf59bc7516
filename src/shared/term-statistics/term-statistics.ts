import type { TermStatistics } from '../../index/index.js';
import { at } from '../at.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import {
  forgetStep,
  settleStep,
  sumTerms,
  countFields,
  forgetStepScript,
  readState,
  settleStepScript,
  stepArguments,
  type CountState,
  type CountStep,
} from './count-steps.js';

/** A batch of a generation, whose chunks are counted together; see `BATCH_SIZE`. */
export interface BatchName {
  readonly generation: string;
  readonly batch: number;
}

export interface CountedBatch extends BatchName {
  readonly chunks: readonly CountedChunk[];
}

interface CountedChunk {
  readonly number: number;
  readonly terms: Uint8Array;
  /** The mark of the name that the terms hold, where the chunk may be renamed meanwhile. */
  readonly named?: string;
}

/** The owner whose statistics are to hold the chunks, by a record. */
export interface Wanted {
  readonly documentId: string;
  readonly revision: number;
  /** Null for nobody's. */
  readonly owner: string | null;
}

/** `refused`: the generation was discarded, or its chunks have no terms yet. `overtaken`: the record has changed. */
export type Settled = 'settled' | 'refused' | 'overtaken';

export type TermStatisticsStore = ReturnType<typeof createTermStatistics>;

/**
 * The document frequencies of each owner's chunks. The step that writes the last chunks of a batch begins to count it
 * (`shared/chunks/`). Here a count is finished, repeated when access changes, and forgotten. All of this goes in parts,
 * so that Redis is never held up for long. A generation remembers for each batch how far its count has come and for
 * whom, and a part is done only at the state where it begins: no part is done twice or lost, whenever a process dies.
 */
export function createTermStatistics(redis: Redis) {
  return {
    state: (batch: BatchName) => readBatchState(redis, batch),
    states: (generation: string, batches: number) => readStates(redis, generation, batches),
    /** Brings a batch to the state in which it is counted for its owner, or for nobody, from whatever state it is in. */
    settle: (batch: CountedBatch, wanted: Wanted) => settle(redis, batch, wanted),
    /**
     * Removes a batch of a generation that is to be cleaned away from the statistics that hold it or a part of it.
     * @returns false when the generation is not to be cleaned away any more
     */
    forget: (batch: CountedBatch) => forget(redis, batch),
    read: (ownerId: string, terms: readonly number[]) => readStatistics(redis, ownerId, terms),
  };
}

async function readBatchState(redis: Redis, { generation, batch }: BatchName): Promise<CountState> {
  return readState(await redis.hmGet(keys.generation(generation), countFields(batch)));
}

async function readStates(redis: Redis, generation: string, batches: number): Promise<CountState[]> {
  const names = Array.from({ length: batches }, (_, batch) => countFields(batch));
  const values = names.length > 0 ? await redis.hmGet(keys.generation(generation), names.flat()) : [];
  return names.map((_, batch) => readState(values.slice(2 * batch, 2 * batch + 2)));
}

async function settle(redis: Redis, batch: CountedBatch, wanted: Wanted): Promise<Settled> {
  const { generation, chunks } = batch;
  const terms = sumTerms(chunks.map((chunk) => chunk.terms));
  const done = await takeSteps(redis, batch, {
    next: (reached) => settleStep(terms, reached, wanted.owner),
    run: (step) =>
      settleStepScript.run(redis, {
        keys: {
          generation: keys.generation(generation),
          statistics: keys.statistics(step.owner),
          record: keys.document(wanted.documentId),
          chunks: begins(step) ? chunks.map(({ number }) => keys.chunk(generation, number)) : [],
        },
        args: {
          revision: wanted.revision,
          begins: begins(step) ? '1' : '',
          names: begins(step) ? chunks.map(({ named = ANY_NAME }) => named) : [],
          ...stepArguments(batch.batch, step),
        },
      }),
  });
  return done === 1 ? 'settled' : done === -1 ? 'refused' : 'overtaken';
}

async function forget(redis: Redis, batch: CountedBatch): Promise<boolean> {
  const terms = sumTerms(batch.chunks.map((chunk) => chunk.terms));
  const done = await takeSteps(redis, batch, {
    next: (reached) => forgetStep(terms, reached),
    run: (step) =>
      forgetStepScript.run(redis, {
        keys: {
          generation: keys.generation(batch.generation),
          statistics: keys.statistics(step.owner),
          garbage: keys.garbage,
        },
        args: { id: batch.generation, ...stepArguments(batch.batch, step) },
      }),
  });
  return done === 1;
}

interface Steps {
  /** The next step; null when the batch has reached its final state. */
  readonly next: (reached: CountState) => CountStep | null;
  readonly run: (step: CountStep) => Promise<number>;
}

/** Takes steps until the last one. @returns 1 at the end, else the code with which a script refused */
async function takeSteps(redis: Redis, batch: BatchName, { next, run }: Steps): Promise<number> {
  let reached = await readBatchState(redis, batch);
  for (let step = next(reached); step; step = next(reached)) {
    const done = await run(step);
    if (done < 0) return done;
    // Another process came first, or Redis came back with older data. The count continues from where it is now.
    reached = done === 1 ? step.to : await readBatchState(redis, batch);
  }
  return 1;
}

const ANY_NAME = '*';

/** Tells whether the step begins a count, so that nothing was under way before. */
const begins = ({ from }: CountStep) => from.kind !== 'counting' && from.kind !== 'forgetting';

async function readStatistics(
  redis: Redis,
  ownerId: string,
  terms: readonly number[],
): Promise<TermStatistics> {
  const names = ['chunks', 'length', ...terms.map(String)];
  // A term that was never counted has no field, which stands for 0.
  const values = (await redis.hmGet(keys.statistics(ownerId), names)).map(Number);
  const frequencies = new Map(terms.map((term, i) => [term, at(values, i + 2)]));
  return { chunks: at(values, 0), totalLength: at(values, 1), frequencies };
}
