import { createNoise, type Noise } from './noise.js';
import { HEAD, type ModelShape } from './shape.js';
import { wordPieceMetadata, wordPieces } from './word-pieces.js';
import type { GgufContent, GgufTensor, GgufValue } from './write-gguf.js';

interface EncoderOptions {
  readonly contextSize: number;
  readonly pooling: 'mean' | 'cls' | 'rank';
  /** Tokens of the vocabulary that are in no text. */
  readonly unusedTokens: number;
}

const POOLING = { mean: 1, cls: 2, rank: 4 };

/** A model of the architecture `bert`: it embeds texts or, with pooling `rank`, says how well a document fits a query. */
export function encoderModel(
  shape: ModelShape,
  { contextSize, pooling, unusedTokens }: EncoderOptions,
): GgufContent {
  const pieces = wordPieces(unusedTokens);
  const { name, seed, dimension, layers } = shape;
  const build = createBuilder(createNoise(seed));
  const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
  return {
    metadata: {
      'general.architecture': { type: 'string', value: 'bert' },
      'general.name': { type: 'string', value: name },
      'general.file_type': uint32(1),
      'bert.context_length': uint32(contextSize),
      'bert.embedding_length': uint32(dimension),
      'bert.feed_forward_length': uint32(2 * dimension),
      'bert.block_count': uint32(layers),
      'bert.attention.head_count': uint32(dimension / HEAD),
      'bert.attention.layer_norm_epsilon': { type: 'float32', value: 1e-12 },
      'bert.attention.causal': { type: 'boolean', value: false },
      'bert.pooling_type': uint32(POOLING[pooling]),
      ...wordPieceMetadata(pieces),
    },
    tensors: [
      build.matrix('token_embd.weight', [dimension, pieces.length], 1),
      // The part that all texts have in common is small, or else all vectors look alike.
      build.rows('token_types.weight', [dimension, 2], 0.1),
      build.rows('position_embd.weight', [dimension, contextSize], 0.2),
      ...build.norm('token_embd_norm', dimension),
      ...Array.from({ length: layers }, (_, layer) =>
        blockTensors(build, `blk.${String(layer)}`, shape),
      ).flat(),
      ...(pooling === 'rank' ? rankTensors(build, dimension) : []),
    ],
  };
}

type Builder = ReturnType<typeof createBuilder>;

function createBuilder(noise: Noise) {
  const rows = (name: string, shape: readonly [number, number], deviation: number): GgufTensor => ({
    name,
    shape,
    type: 'float32',
    values: () => noise(shape[0] * shape[1], deviation),
  });
  const matrix = (...tensor: Parameters<typeof rows>): GgufTensor => ({
    ...rows(...tensor),
    type: 'float16',
  });
  const vector = (name: string, size: number, values: () => Float32Array): GgufTensor => ({
    name,
    shape: [size],
    type: 'float32',
    values,
  });
  return {
    matrix,
    /** Rows that are added, instead of multiplied, must have 32 bits. */
    rows,
    /** Multiplies by `[into]` rows; outputs are as large as inputs, times `gain`. */
    dense: (name: string, [from, into]: readonly [number, number], gain: number): GgufTensor[] => [
      matrix(`${name}.weight`, [from, into], gain / Math.sqrt(from)),
      vector(`${name}.bias`, into, () => noise(into, 0.02)),
    ],
    norm: (name: string, size: number): GgufTensor[] => [
      vector(`${name}.weight`, size, () => new Float32Array(size).fill(1)),
      vector(`${name}.bias`, size, () => new Float32Array(size)),
    ],
  };
}

function blockTensors(build: Builder, block: string, { dimension }: ModelShape): GgufTensor[] {
  const square = [dimension, dimension] as const;
  return [
    ...build.dense(`${block}.attn_q`, square, 1.5),
    ...build.dense(`${block}.attn_k`, square, 1.5),
    ...build.dense(`${block}.attn_v`, square, 1),
    ...build.dense(`${block}.attn_output`, square, 1),
    ...build.norm(`${block}.attn_output_norm`, dimension),
    ...build.dense(`${block}.ffn_up`, [dimension, 2 * dimension], 1),
    ...build.dense(`${block}.ffn_down`, [2 * dimension, dimension], 1),
    ...build.norm(`${block}.layer_output_norm`, dimension),
  ];
}

/** Makes the one score out of the vector of the first token. */
const rankTensors = (build: Builder, dimension: number): GgufTensor[] => [
  ...build.dense('cls', [dimension, dimension], 1),
  ...build.dense('cls.output', [dimension, 1], 2),
];
