import type { GgufValue } from './write-gguf.js';

const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;

interface Token {
  readonly text: string;
  readonly type: number;
}

const printable = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));

/** Every byte is a token, and every printable character of ASCII one of its own; `▁` is the blank. */
const tokens: readonly Token[] = [
  { text: '<unk>', type: UNKNOWN },
  { text: '<s>', type: CONTROL },
  { text: '</s>', type: CONTROL },
  { text: '<|im_start|>', type: CONTROL },
  { text: '<|im_end|>', type: CONTROL },
  ...Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    type: BYTE,
  })),
  { text: '\u2581', type: NORMAL },
  ...printable.map((text) => ({ text, type: NORMAL })),
];

const idOf = (text: string) => tokens.findIndex((token) => token.text === text);

export const tokenCount = tokens.length;
/** The token that ends a message of the chat. */
export const endOfMessage = idOf('<|im_end|>');
/** The first token that a model may say: the blank and the printable characters. */
export const firstPrintable = idOf('\u2581');

export const CHAT_TEMPLATE = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`;

const id = (text: string): GgufValue => ({ type: 'uint32', value: idOf(text) });

export const byteTokenMetadata: Readonly<Record<string, GgufValue>> = {
  'tokenizer.ggml.model': { type: 'string', value: 'llama' },
  'tokenizer.ggml.pre': { type: 'string', value: 'default' },
  'tokenizer.ggml.tokens': { type: 'strings', value: tokens.map(({ text }) => text) },
  'tokenizer.ggml.scores': { type: 'float32s', value: tokens.map(() => 0) },
  'tokenizer.ggml.token_type': { type: 'int32s', value: tokens.map(({ type }) => type) },
  'tokenizer.ggml.unknown_token_id': id('<unk>'),
  'tokenizer.ggml.bos_token_id': id('<s>'),
  'tokenizer.ggml.eos_token_id': id('<|im_end|>'),
  'tokenizer.ggml.eot_token_id': id('<|im_end|>'),
  'tokenizer.ggml.padding_token_id': id('</s>'),
  'tokenizer.ggml.add_bos_token': { type: 'boolean', value: true },
  'tokenizer.ggml.add_eos_token': { type: 'boolean', value: false },
  'tokenizer.ggml.add_space_prefix': { type: 'boolean', value: false },
  'tokenizer.chat_template': { type: 'string', value: CHAT_TEMPLATE },
};
