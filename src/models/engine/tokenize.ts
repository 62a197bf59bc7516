import type { BuiltinSpecialTokenValue, LlamaModel, Token, Tokenizer } from 'node-llama-cpp';

/**
 * UTF-16 units of text without a blank in between, or of blanks alone, that are made tokens at once. The engine cuts texts into
 * words by regular expressions that call themselves for every character: a word of about 30,000 letters ends the process.
 */
const MAX_RUN_LENGTH = 8_192;

/**
 * Makes tokens of any text. Runs that are longer than any word are cut. Where depends on the text before the cut alone, so
 * that a text begins with the same tokens whatever follows it.
 */
export function tokenizeText(
  model: Pick<LlamaModel, 'tokenize'>,
  text: string,
  options?: 'trimLeadingSpace',
): Token[] {
  const [first = '', ...others] = cutRuns(text);
  const tokens = model.tokenize(first, false, options);
  // Some vocabularies put a blank before each text, and these are none of their own.
  const more = others.map((piece) => model.tokenize(piece, false, 'trimLeadingSpace'));
  return [tokens, ...more].flat();
}

/**
 * Puts the token that begins every text before others, where the model has one. The engine does it itself for some
 * vocabularies and forgets it for others, such as the vocabulary of multilingual-e5.
 */
export function withBegin(model: Pick<LlamaModel, 'tokens'>, tokens: Token[]): Token[] {
  const { bos, shouldPrependBosToken } = model.tokens;
  return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens;
}

type TokenizerArguments =
  | [text: string, special?: boolean, options?: 'trimLeadingSpace']
  | [text: BuiltinSpecialTokenValue, special: 'builtin'];

/** The model's tokenizer for texts of any kind. */
export function tokenizerOf(model: LlamaModel): Tokenizer {
  return new Proxy(model.tokenizer, {
    // Text with special tokens belongs to a template, which no text of a caller gets into.
    apply: (tokenize, _self, args: TokenizerArguments) => {
      if (args[1] === 'builtin') return tokenize(args[0], args[1]);
      const [text, special = false, options] = args;
      return special ? tokenize(text, special, options) : tokenizeText(model, text, options);
    },
  });
}

/** Returns the text with its overlong runs cut by blanks, for functions that make the tokens themselves. */
export const withoutLongRuns = (text: string): string => {
  const pieces = cutRuns(text);
  return pieces.length === 1 ? text : pieces.map((piece) => piece.trim()).join(' ');
};

function cutRuns(text: string): string[] {
  const pieces: string[] = [];
  let pieceBegin = 0;
  let runBegin = 0;
  let isBlankRun = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const isBlank = unit === 32 || (unit >= 9 && unit <= 13);
    if (isBlank !== isBlankRun) {
      isBlankRun = isBlank;
      runBegin = at;
    } else if (at - runBegin >= MAX_RUN_LENGTH && !isSecondOfPair(unit)) {
      pieces.push(text.slice(pieceBegin, at));
      pieceBegin = at;
      runBegin = at;
    }
  }
  return [...pieces, text.slice(pieceBegin)];
}

const isSecondOfPair = (unit: number) => unit >= 0xdc_00 && unit <= 0xdf_ff;
