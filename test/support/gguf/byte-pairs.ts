import { CHAT_TEMPLATE, tokenCount } from './byte-tokens.js';
import type { GgufValue } from './write-gguf.js';

const NORMAL = 1;
const CONTROL = 3;
const specials = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];

/** The spelling of bytes in vocabularies of byte pairs: a printable byte as itself, the others from U+0100 on. */
function spellBytes(): string[] {
  const isShown = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    if (isShown(byte)) return String.fromCodePoint(byte);
    others += 1;
    return String.fromCodePoint(255 + others);
  });
}

const bytes = spellBytes();
const unused = Array.from(
  { length: tokenCount - specials.length - bytes.length },
  (_, n) => `<unused${String(n)}>`,
);
const types = [...specials.map(() => CONTROL), ...bytes.map(() => NORMAL), ...unused.map(() => CONTROL)];
const id = (token: string): GgufValue => ({ type: 'uint32', value: specials.indexOf(token) });

/** A vocabulary of byte pairs with one pair, for texts that are cut into words by the expressions of a family of models. */
export const bytePairMetadata = (family: string): Readonly<Record<string, GgufValue>> => ({
  'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
  'tokenizer.ggml.pre': { type: 'string', value: family },
  'tokenizer.ggml.tokens': { type: 'strings', value: [...specials, ...bytes, ...unused] },
  'tokenizer.ggml.merges': { type: 'strings', value: ['a a'] },
  'tokenizer.ggml.token_type': { type: 'int32s', value: types },
  'tokenizer.ggml.bos_token_id': id('<|endoftext|>'),
  'tokenizer.ggml.eos_token_id': id('<|im_end|>'),
  'tokenizer.ggml.eot_token_id': id('<|im_end|>'),
  'tokenizer.ggml.padding_token_id': id('<|endoftext|>'),
  'tokenizer.ggml.add_bos_token': { type: 'boolean', value: false },
  'tokenizer.chat_template': { type: 'string', value: CHAT_TEMPLATE },
});
