import type { GgufValue } from './write-gguf.js';

const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
/** The beginning of a piece that begins a word. */
const START = '\u2581';

/**
 * Pieces of words for models of the BERT kind: every byte, so that no text is unknown, and all pairs of small letters,
 * so that vectors of texts differ, which those of single letters hardly would. The reader makes letters small.
 */
const usedPieces: readonly (string | Uint8Array)[] = [
  ...SPECIAL,
  START,
  ...Array.from({ length: 94 }, (_, index) => START + String.fromCharCode(33 + index)),
  ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)).filter((bytes) => bytes[0] !== 0),
  ...LETTERS.flatMap((first) => LETTERS.flatMap((second) => [first + second, START + first + second])),
];

/** @param unused further pieces, which no test has in its texts */
export const wordPieces = (unused: number): readonly (string | Uint8Array)[] => [
  ...usedPieces,
  ...Array.from({ length: unused }, (_, index) => `${START}unused${String(index)}`),
];

const id = (token: string): GgufValue => ({ type: 'uint32', value: SPECIAL.indexOf(token) });

export const wordPieceMetadata = (
  pieces: readonly (string | Uint8Array)[],
): Readonly<Record<string, GgufValue>> => ({
  'tokenizer.ggml.model': { type: 'string', value: 'bert' },
  'tokenizer.ggml.pre': { type: 'string', value: 'default' },
  'tokenizer.ggml.token_type_count': { type: 'uint32', value: 2 },
  'tokenizer.ggml.tokens': { type: 'strings', value: pieces },
  // 1: normal, 3: control.
  'tokenizer.ggml.token_type': {
    type: 'int32s',
    value: pieces.map((_, index) => (index < SPECIAL.length ? 3 : 1)),
  },
  'tokenizer.ggml.padding_token_id': id('[PAD]'),
  'tokenizer.ggml.unknown_token_id': id('[UNK]'),
  'tokenizer.ggml.cls_token_id': id('[CLS]'),
  'tokenizer.ggml.bos_token_id': id('[CLS]'),
  // The format's own spelling.
  'tokenizer.ggml.seperator_token_id': id('[SEP]'),
  'tokenizer.ggml.eos_token_id': id('[SEP]'),
  'tokenizer.ggml.mask_token_id': id('[MASK]'),
});
