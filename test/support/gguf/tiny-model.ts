import { writeGguf, type GgufContent } from './write-gguf.js';
import { bytePairMetadata } from './byte-pairs.js';
import { byteTokenMetadata } from './byte-tokens.js';
import { encoderModel } from './encoder-model.js';
import { chatModel } from './chat-model.js';

export interface TinyModelOptions {
  readonly kind: 'embedding' | 'chat' | 'ranking';
  /** Models of other seeds have the same shape and other weights. */
  readonly seed?: number;
  /** The name in the file; its kind and seed by default. */
  readonly name?: string;
  /** Width of the vectors, a multiple of 32; 64 by default. */
  readonly dimension?: number;
  /** Blocks of attention; 2 by default. */
  readonly layers?: number;
  /** Tokens that it was made for; 512 by default, and 8192 for chat. */
  readonly contextSize?: number;
  /** The source of an embedding: the mean of all tokens by default, or the first token. */
  readonly pooling?: 'mean' | 'cls';
  /** Tokens of the vocabulary of an embedding or ranking model that are in no text; none by default. */
  readonly unusedTokens?: number;
  /** True if a chat model may end an answer; without it, it speaks until it is stopped. */
  readonly ends?: boolean;
  /** The family whose expressions cut texts of a chat model into words; bytes without words by default. */
  readonly words?: string;
}

/**
 * Writes a valid model with random weights, of some hundred kilobytes: it computes as any other, and says nothing. A
 * chat model of 60 MB: `{ kind: 'chat', dimension: 512, layers: 11, contextSize: 32768 }`.
 */
export function writeTinyModel(path: string, options: TinyModelOptions): void {
  writeGguf(path, contentOf(options));
}

function contentOf(options: TinyModelOptions): GgufContent {
  const { kind, seed = 1, name = `tiny-${kind}-${String(seed)}`, dimension = 64, layers = 2 } = options;
  const shape = { name, seed, dimension, layers };
  const encoder = { contextSize: options.contextSize ?? 512, unusedTokens: options.unusedTokens ?? 0 };
  switch (kind) {
    case 'embedding':
      return encoderModel(shape, { ...encoder, pooling: options.pooling ?? 'mean' });
    case 'ranking':
      return encoderModel(shape, { ...encoder, pooling: 'rank' });
    case 'chat':
      return chatModel(shape, {
        contextSize: options.contextSize ?? 8192,
        ends: options.ends ?? false,
        tokens: options.words === undefined ? byteTokenMetadata : bytePairMetadata(options.words),
      });
  }
}
