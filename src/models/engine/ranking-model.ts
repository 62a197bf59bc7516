import type { LlamaRankingContext } from 'node-llama-cpp';
import { createPool, type ModelTurns, type ModelTurnRequest } from './model-turns.js';
import { withoutLongRuns } from './tokenize.js';

/** A model that says how well a text answers a query. */
export interface RankingModel {
  /** From 0 to 1. A text beyond the window is read in parts, half of each in the next as well; the best part counts. */
  rank(query: string, text: string, turn: ModelTurnRequest): Promise<{ score: number; tokens: number }>;
}

interface Parts {
  readonly contexts: readonly LlamaRankingContext[];
  readonly turns: ModelTurns;
}

export function createRankingModel({ contexts, turns }: Parts): RankingModel {
  const pool = createPool(contexts);
  return {
    rank: (query, text, turn) => {
      const pair = [withoutLongRuns(query), withoutLongRuns(text)] as const;
      return turns.take(turn, () =>
        pool.lend(async (context) => ({
          score: await context.rank(...pair, { onOverflow: 'maxChunk' }),
          tokens: context.calculateInputLength(...pair),
        })),
      );
    },
  };
}
