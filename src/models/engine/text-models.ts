import { at } from '../../shared/at.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LlamaEmbeddingContext, LlamaModel, Token, LlamaRankingContext } from 'node-llama-cpp';
import { createPool, type ModelTurns, type ModelTurnRequest } from './model-turns.js';
import { tokenizeText, withBegin, withoutLongRuns } from './tokenize.js';

export interface EmbeddedText {
  /** The vector of unit length, or all zeros where the model makes nothing of the text. */
  readonly vector: Float32Array;
  readonly tokens: number;
}

/** A model that makes vectors of texts. */
export interface EmbeddingModel {
  /** A text beyond the window is read in parts of equal length; its vector is the mean of theirs, by their tokens. */
  embed(text: string, turn: ModelTurnRequest): Promise<EmbeddedText>;
}

interface EmbeddingParts {
  readonly model: LlamaModel;
  readonly contexts: readonly LlamaEmbeddingContext[];
  /** Tokens that the model reads at once, including the marks of beginning and end. */
  readonly window: number;
  readonly turns: ModelTurns;
}

/** Tokens for beginning and end, and one that the context keeps free. */
const FRAME_TOKENS = 3;

export function createEmbeddingModel({ model, contexts, window, turns }: EmbeddingParts): EmbeddingModel {
  const pool = createPool(contexts);
  const embedTokens = async (tokens: Token[], turn: ModelTurnRequest) =>
    normalize((await turns.take(turn, () => pool.lend((context) => context.getEmbeddingFor(tokens)))).vector);
  return {
    embed: async (text, turn) => {
      // Tokens of a long text take a while: the texts of a request must not stop everything else one after the other.
      await nextTurn();
      const tokens = tokenizeText(model, text);
      const parts = splitEvenly(tokens, window - FRAME_TOKENS).map((part) => withBegin(model, part));
      const vectors: Float32Array[] = [];
      // Each part has its turn: urgent texts do not wait for the end of a long one.
      for (const part of parts) vectors.push(await embedTokens(part, turn));
      const vector = vectors.length === 1 && vectors[0] ? vectors[0] : weightedMean(vectors, parts);
      return { vector, tokens: tokens.length };
    },
  };
}

/** Cuts a list into as few parts as fit, of lengths that differ by one at most. */
function splitEvenly<Item>(items: Item[], max: number): Item[][] {
  const count = Math.max(1, Math.ceil(items.length / max));
  return Array.from({ length: count }, (_, part) =>
    items.slice(Math.floor((part * items.length) / count), Math.floor(((part + 1) * items.length) / count)),
  );
}

function weightedMean(vectors: readonly Float32Array[], parts: readonly Token[][]): Float32Array {
  const sum = new Float32Array(at(vectors, 0).length);
  vectors.forEach((vector, part) => {
    const weight = at(parts, part).length;
    vector.forEach((value, i) => {
      sum[i] = at(sum, i) + weight * value;
    });
  });
  return normalize(sum);
}

function normalize(vector: readonly number[] | Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const norm = Math.sqrt(squares);
  return Float32Array.from(vector, (value) => (norm > 0 ? value / norm : 0));
}

/** A model that says how well a text answers a query. */
export interface RankingModel {
  /** From 0 to 1. A text beyond the window is read in parts, half of each in the next as well; the best part counts. */
  rank(query: string, text: string, turn: ModelTurnRequest): Promise<{ score: number; tokens: number }>;
}

interface RankingParts {
  readonly contexts: readonly LlamaRankingContext[];
  readonly turns: ModelTurns;
}

export function createRankingModel({ contexts, turns }: RankingParts): RankingModel {
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
