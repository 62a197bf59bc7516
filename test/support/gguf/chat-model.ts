import { endOfMessage, firstPrintable, tokenCount } from './byte-tokens.js';
import { createNoise, type Noise } from './noise.js';
import { HEAD, type ModelShape } from './shape.js';
import type { GgufContent, GgufTensor, GgufValue } from './write-gguf.js';

interface ChatOptions {
  readonly contextSize: number;
  readonly ends: boolean;
  /** The entries that tell how texts become tokens. */
  readonly tokens: Readonly<Record<string, GgufValue>>;
}

/** A model of the architecture `llama` that speaks random printable characters; what it says depends on all it has read. */
export function chatModel(shape: ModelShape, { contextSize, ends, tokens }: ChatOptions): GgufContent {
  const { name, seed, dimension, layers } = shape;
  const noise = createNoise(seed);
  const heads = dimension / HEAD;
  const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
  return {
    metadata: {
      'general.architecture': { type: 'string', value: 'llama' },
      'general.name': { type: 'string', value: name },
      'general.file_type': uint32(1),
      'llama.context_length': uint32(contextSize),
      'llama.embedding_length': uint32(dimension),
      'llama.feed_forward_length': uint32(feedForward(dimension)),
      'llama.block_count': uint32(layers),
      'llama.attention.head_count': uint32(heads),
      'llama.attention.head_count_kv': uint32(keyHeads(dimension)),
      'llama.attention.layer_norm_rms_epsilon': { type: 'float32', value: 1e-5 },
      'llama.rope.dimension_count': uint32(HEAD),
      'llama.rope.freq_base': { type: 'float32', value: 1e6 },
      'llama.vocab_size': uint32(tokenCount),
      ...tokens,
    },
    tensors: [
      matrix('token_embd.weight', [dimension, tokenCount], () => noise(dimension * tokenCount, 1)),
      ...Array.from({ length: layers }, (_, layer) =>
        blockTensors(noise, `blk.${String(layer)}`, dimension),
      ).flat(),
      ones('output_norm.weight', dimension),
      matrix('output.weight', [dimension, tokenCount], () => outputWeights(noise, dimension, ends)),
    ],
  };
}

const feedForward = (dimension: number) => Math.round((8 * dimension) / 3 / HEAD) * HEAD;

/** Four heads share their keys and values, as in most models of today: what is kept of a text is a fourth. */
const keyHeads = (dimension: number) => Math.max(1, Math.floor(dimension / HEAD / 4));

const matrix = (name: string, shape: readonly [number, number], values: () => Float32Array): GgufTensor => ({
  name,
  shape,
  type: 'float16',
  values,
});

const ones = (name: string, size: number): GgufTensor => ({
  name,
  shape: [size],
  type: 'float32',
  values: () => new Float32Array(size).fill(1),
});

function blockTensors(noise: Noise, block: string, dimension: number): GgufTensor[] {
  const keys = keyHeads(dimension) * HEAD;
  const hidden = feedForward(dimension);
  const dense = (name: string, [from, into]: readonly [number, number], gain: number) =>
    matrix(`${block}.${name}.weight`, [from, into], () => noise(from * into, gain / Math.sqrt(from)));
  return [
    ones(`${block}.attn_norm.weight`, dimension),
    // Heads that look at few tokens, instead of at the mean of all, make every part of a text count.
    dense('attn_q', [dimension, dimension], 2),
    dense('attn_k', [dimension, keys], 2),
    dense('attn_v', [dimension, keys], 2),
    dense('attn_output', [dimension, dimension], 4),
    ones(`${block}.ffn_norm.weight`, dimension),
    dense('ffn_gate', [dimension, hidden], 2),
    dense('ffn_up', [dimension, hidden], 2),
    dense('ffn_down', [hidden, dimension], 2),
  ];
}

/** Rows of zeros for what it never says: some printable character always has a higher value. */
function outputWeights(noise: Noise, dimension: number, ends: boolean): Float32Array {
  const weights = noise(dimension * tokenCount, 4 / Math.sqrt(dimension));
  const row = (token: number) => weights.subarray(token * dimension, (token + 1) * dimension);
  const end = row(endOfMessage).map((weight) => 2 * weight);
  weights.fill(0, 0, firstPrintable * dimension);
  if (ends) row(endOfMessage).set(end);
  return weights;
}
