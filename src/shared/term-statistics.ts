import {
  countFields,
  forgetStepScript,
  readState,
  settleStepScript,
  stepArguments,
} from './count-scripts.js';
import { keys } from './keys.js';
import type { TermStatistics } from './query-words.js';
import type { Redis } from './redis.js';
import { forgetStep, settleStep, sumTerms, type CountState, type CountStep } from './term-parts.js';

/** Chunks of a generation that are counted together, see `BATCH_SIZE`. */
export interface BatchName {
  readonly generation: string;
  readonly batch: number;
}

export interface CountedBatch extends BatchName {
  readonly chunks: readonly { readonly number: number; readonly terms: Uint8Array }[];
}

/** By what a record says whose statistics are to hold its chunks. */
export interface Wanted {
  readonly documentId: string;
  readonly revision: number;
  /** Null where nobody's are. */
  readonly owner: string | null;
}

/** `refused`: a generation that was discarded, or whose chunks have no terms yet. `overtaken`: the record has changed. */
export type Settled = 'settled' | 'refused' | 'overtaken';

export type TermStatisticsStore = ReturnType<typeof createTermStatistics>;

/**
 * Document frequencies of each owner's chunks. The step that writes the last chunks of a batch begins to count it
 * (`shared/chunks.ts`); here it is counted to the end, counted anew when access changes, and forgotten. All of that goes
 * in parts, so that Redis is never held up for long. A generation remembers of each batch how far it has come and for
 * whom, and a part is done only where it begins: none is done twice and none is lost, whenever a process dies.
 */
export function createTermStatistics(redis: Redis) {
  const state = async ({ generation, batch }: BatchName): Promise<CountState> =>
    readState(await redis.hmGet(keys.generation(generation), countFields(batch)));

  /** @returns 1 at the end, else what a script refused with */
  const goOn = async (
    name: BatchName,
    next: (reached: CountState) => CountStep | null,
    run: (step: CountStep) => Promise<number>,
  ): Promise<number> => {
    let reached = await state(name);
    for (let step = next(reached); step; step = next(reached)) {
      const done = await run(step);
      if (done < 0) return done;
      // Somebody else came first, or Redis came back with older data: it goes on from where that is.
      reached = done === 1 ? step.to : await state(name);
    }
    return 1;
  };

  return {
    state,

    states: async (generation: string, batches: number): Promise<CountState[]> => {
      const names = Array.from({ length: batches }, (_, batch) => countFields(batch));
      const values = names.length > 0 ? await redis.hmGet(keys.generation(generation), names.flat()) : [];
      return names.map((_, batch) => readState(values.slice(2 * batch, 2 * batch + 2)));
    },

    /** Makes a batch counted for its owner, or for nobody, whatever of it is counted now. */
    settle: async (batch: CountedBatch, wanted: Wanted): Promise<Settled> => {
      const { generation, chunks } = batch;
      const terms = sumTerms(chunks.map((chunk) => chunk.terms));
      const done = await goOn(
        batch,
        (reached) => settleStep(terms, reached, wanted.owner),
        (step) =>
          settleStepScript.run(redis, {
            keys: [
              ...[keys.generation(generation), keys.statistics(step.owner ?? '')],
              keys.document(wanted.documentId),
              ...(begins(step) ? chunks.map(({ number }) => keys.chunk(generation, number)) : []),
            ],
            arguments: [
              ...[generation, String(wanted.revision), begins(step) ? 'begin' : 'go on'],
              ...stepArguments(batch.batch, step),
            ],
          }),
      );
      return done === 1 ? 'settled' : done === -1 ? 'refused' : 'overtaken';
    },

    /**
     * Takes a batch of a generation that is to be cleaned away out of whoever's statistics hold it, or a part of it.
     * @returns false for a generation that is not (any more)
     */
    forget: async (batch: CountedBatch): Promise<boolean> => {
      const terms = sumTerms(batch.chunks.map((chunk) => chunk.terms));
      const done = await goOn(
        batch,
        (reached) => forgetStep(terms, reached),
        (step) =>
          forgetStepScript.run(redis, {
            keys: [keys.generation(batch.generation), keys.statistics(step.owner ?? ''), keys.garbage],
            arguments: [batch.generation, ...stepArguments(batch.batch, step)],
          }),
      );
      return done === 1;
    },

    read: async (ownerId: string, terms: readonly number[]): Promise<TermStatistics> => {
      const names = ['chunks', 'length', ...terms.map(String)];
      const [chunks, length, ...counts] = await redis.hmGet(keys.statistics(ownerId), names);
      const frequencies = new Map(terms.map((term, i) => [term, Number(counts[i] ?? 0)]));
      return { chunks: Number(chunks ?? 0), totalLength: Number(length ?? 0), frequencies };
    },
  };
}

/** Whether nothing was under way before the step. */
const begins = ({ from }: CountStep) => from.kind !== 'counting' && from.kind !== 'forgetting';
