import { at } from '../at.js';
import { slicesOf } from '../batches.js';
import { TextTooLongError } from '../errors.js';
import type { CallOptions, Embeddings } from '../ports.js';
import { countLongText, cutToTokens, wholeCharacters } from '../text/token-budget.js';
import { widthAt } from '../text/code-points.js';
import { countTokens } from '../text/token-count.js';

/** Vectors of texts, and which of them are means of the vectors of parts. */
export interface PartedEmbeddings extends Embeddings {
  /** One for each text; absent where all texts were embedded whole. */
  readonly inParts?: readonly boolean[];
}

export type Embed = (texts: readonly string[], options: CallOptions) => Promise<Embeddings>;

interface Window {
  /** Tokens of a part by our count. `Infinity` until the model has refused a text. */
  tokens: number;
}

interface EmbedInPartsOptions {
  readonly embed: Embed;
  /** Texts of a request. */
  readonly maxInputs: number;
  /** Called once, with the number of tokens by our count to which texts are cut from then on. */
  readonly onSmallWindow: ((tokens: number) => void) | undefined;
}

/** Models count more tokens than we do, above all where they know few words of a language. */
const SHARE_OF_WINDOW = 0.8;
/** The share of its length to which a refused part is cut. */
const SHORTER = 0.6;
/** Parts of fewer tokens say nothing. */
const MIN_TOKENS = 16;

/**
 * Embeds texts. Texts that the model refuses as too long are embedded in parts of equal length: their vector is the mean of
 * the parts', weighted by length, brought to unit length. The window learnt from the first refused texts holds for all
 * later ones.
 * @throws TextTooLongError when even short parts are refused
 */
export function createEmbedInParts({ embed, maxInputs, onSmallWindow }: EmbedInPartsOptions) {
  const learned: Window = { tokens: Infinity };
  return async (texts: readonly string[], options: CallOptions): Promise<PartedEmbeddings> => {
    let tokens = learned.tokens;
    // A window that is named is kept from the first refusal on, and a window that is tried out once it has proved right.
    // Later refusals teach nothing: a text of unusual signs must not have all others cut as short as itself.
    const learn = (window: number) => {
      if (learned.tokens !== Infinity || window === Infinity) return;
      learned.tokens = window;
      onSmallWindow?.(window);
    };
    for (;;) {
      try {
        const embedded = await embedWith({ embed, maxInputs }, { texts, tokens, options });
        learn(tokens);
        return embedded;
      } catch (error) {
        if (!(error instanceof TextTooLongError)) throw error;
        tokens = await shorterWindow(texts, tokens, error.window);
        if (tokens < MIN_TOKENS) throw error;
        if (error.window !== null) learn(tokens);
      }
    }
  };
}

async function shorterWindow(texts: readonly string[], tried: number, named: number | null): Promise<number> {
  let longest = 0;
  for (const text of texts) longest = Math.max(longest, await countLongText(text, countTokens));
  const sent = Math.min(tried, longest);
  const fitting = Math.floor((named ?? Infinity) * SHARE_OF_WINDOW);
  return fitting < sent ? fitting : Math.floor(sent * SHORTER);
}

interface Job {
  readonly texts: readonly string[];
  readonly tokens: number;
  readonly options: CallOptions;
}

async function embedWith(
  { embed, maxInputs }: Pick<EmbedInPartsOptions, 'embed' | 'maxInputs'>,
  { texts, tokens, options }: Job,
): Promise<PartedEmbeddings> {
  if (tokens === Infinity) return embed(texts, options);
  const split = [];
  for (const text of texts) split.push(await splitEvenly(text, tokens));
  const parts = split.flat();
  if (parts.length === texts.length) return embed(texts, options);
  const vectors: Float32Array[] = [];
  let billed: number | null = 0;
  for (const slice of slicesOf(parts, maxInputs)) {
    const reply = await embed(slice, options);
    vectors.push(...reply.vectors);
    billed = billed === null || reply.tokens === null ? null : billed + reply.tokens;
  }
  let next = 0;
  return {
    tokens: billed,
    inParts: split.map((own) => own.length > 1),
    vectors: split.map((own) => {
      const ofText = vectors.slice(next, next + own.length);
      next += own.length;
      return own.length === 1 ? at(ofText, 0) : weightedMean(ofText, own);
    }),
  };
}

/** Cuts a text into as few parts of about equal length as have at most `tokens` each. No part ends within a character. */
async function splitEvenly(text: string, tokens: number): Promise<string[]> {
  // No token is shorter than a byte.
  if (Buffer.byteLength(text) <= tokens) return [text];
  const count = Math.ceil((await countLongText(text, countTokens)) / tokens);
  const parts: string[] = [];
  for (let rest = text, left = count; rest !== ''; left -= 1) {
    const wanted = wholeCharacters(rest, left > 1 ? Math.ceil(rest.length / left) : rest.length);
    const cut = cutToTokens(rest.slice(0, wanted), tokens, countTokens);
    const part = cut === '' ? rest.slice(0, widthAt(rest, 0)) : cut;
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return parts;
}

function weightedMean(vectors: readonly Float32Array[], parts: readonly string[]): Float32Array {
  const sum = new Float32Array(at(vectors, 0).length);
  vectors.forEach((vector, part) => {
    const weight = at(parts, part).length;
    vector.forEach((value, i) => {
      sum[i] = at(sum, i) + weight * value;
    });
  });
  const norm = Math.hypot(...sum);
  // Parts that point exactly away from each other have no mean: the first one stands for the text.
  return norm > 0 ? sum.map((value) => value / norm) : at(vectors, 0);
}
