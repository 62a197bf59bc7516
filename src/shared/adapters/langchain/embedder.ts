import type { EmbeddingsInterface } from '@langchain/core/embeddings';
import { z } from 'zod';
import { at } from '../../at.js';
import { IngestError, TextTooLongError, UnavailableError } from '../../errors.js';
import type { ProviderClass } from '../../models/provider-class.js';
import { checkTexts, toUnitLength } from '../../models/provider-vectors.js';
import type { Embedder } from '../../ports.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { cutToTokens } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';
import { loadOnce, shareResult } from '../../tools/coalesce-runs.js';
import { untilAborted } from '../../tools/aborting.js';
import { createCalls, EMBEDDING_PROVIDER } from './calls.js';
import { digestOf, withDefaults } from './constructor-options.js';
import { construct, loadClass, methodOf, UnusableClassError } from './load-class.js';

type Options = Readonly<Record<string, unknown>>;

interface Prefixes {
  readonly query: string;
  readonly document: string;
}

const NO_PREFIXES: Prefixes = { query: '', document: '' };

export interface LangChainEmbedderOptions {
  readonly provider: ProviderClass;
  readonly model: string;
  /** The texts that the model wants before each text. */
  readonly prefixes?: Prefixes;
  /** Length of the vectors to ask for; the model decides when it is absent. */
  readonly dimensions?: number;
  /** Options for the constructor. */
  readonly options: Options;
  /** The same as the settings write them, where values of the environment are names. */
  readonly writtenOptions: Options;
  readonly timeoutMilliseconds: number;
  readonly maxInputs?: number;
  readonly maxTokens?: number;
}

const CALLS_AT_ONCE = 32;
/** Texts of more tokens are cut, because models refuse them. */
const MAX_INPUT_TOKENS = 8192;
/** The time for which a start waits for a provider to show the form of its vectors. */
const START_MILLISECONDS = 5_000;

/**
 * Embeddings of any class of LangChain. A provider that is away is asked again when its vectors are needed.
 * @throws UnusableClassError when there is no such class, or when it gives vectors that nothing can be found with
 */
export async function createLangChainEmbedder(options: LangChainEmbedderOptions): Promise<Embedder> {
  const { provider, model, dimensions, timeoutMilliseconds, maxInputs = 2048 } = options;
  const type = await loadClass(provider);
  if (!methodOf(type, 'embedDocuments') || !methodOf(type, 'embedQuery')) {
    throw new UnusableClassError(`${provider.className} is no Embeddings of LangChain`);
  }
  const given = withDefaults(provider.packageName, options.options, { timeoutMilliseconds, maxInputs });
  const made = construct(type, { ...given, model, ...(dimensions === undefined ? {} : { dimensions }) });
  if (!canEmbed(made)) throw new UnusableClassError(`${provider.className} makes no Embeddings`);
  const embedder = createEmbedderOver(made, { ...options, name: nameOf(options) });
  const start = { signal: AbortSignal.timeout(START_MILLISECONDS) };
  await embedder.dimensions(start).catch((error: unknown) => {
    const cause = error instanceof UnavailableError ? error.cause : null;
    if (cause instanceof BadReplyError) throw new UnusableClassError(cause.message, { cause });
    // Whatever else is wrong may be mended while the process runs, and is told to whoever needs vectors until then.
  });
  return embedder;
}

/** Tells whether an object of the class is what it should be. The results of both methods are checked when they are read. */
const canEmbed = (made: unknown): made is EmbeddingsInterface =>
  typeof made === 'object' && made !== null && 'embedDocuments' in made && 'embedQuery' in made;

function nameOf(options: LangChainEmbedderOptions): string {
  const { provider, model, dimensions, writtenOptions, prefixes = NO_PREFIXES } = options;
  const { query, document } = prefixes;
  // Vectors of other prefixes are vectors of another model.
  const digest = digestOf(query + document === '' ? writtenOptions : { ...writtenOptions, prefixes });
  const length = dimensions === undefined ? '' : `:${String(dimensions)}`;
  const mark = digest === '' ? '' : `:options-${digest}`;
  return `langchain:${provider.specifier}:${provider.className}:${model}${length}${mark}`;
}

interface OverOptions extends Pick<
  LangChainEmbedderOptions,
  'dimensions' | 'prefixes' | 'timeoutMilliseconds' | 'maxInputs' | 'maxTokens'
> {
  readonly name: string;
}

/** An embedder over an instance. Its vectors are used once it has shown that it keeps the order of its texts. */
export function createEmbedderOver(embeddings: EmbeddingsInterface, options: OverOptions): Embedder {
  const { name, maxInputs = 2048, maxTokens = 300_000 } = options;
  const { ask, askQuery } = createAsking(embeddings, options);
  const proof = createProof(EMBEDDING_PROVIDER, {
    embedDocuments: (texts) => ask(texts),
    embedQuery: (text) => askQuery(text),
  });
  const proven = async (signal?: AbortSignal): Promise<number> => {
    signal?.throwIfAborted();
    return untilAborted(proof.ready(), signal);
  };
  /** A refusal is the fault of a text only while the provider takes other texts. */
  const blame = async (error: unknown): Promise<never> => {
    if (error instanceof IngestError) await proof.again();
    throw error;
  };
  return {
    model: name,
    limits: { inputs: maxInputs, tokens: maxTokens },
    dimensions: ({ signal } = {}) => proven(signal),
    embedDocuments: async (texts, { signal } = {}) => {
      if (texts.length === 0) return { vectors: [], tokens: 0 };
      checkTexts(texts, maxInputs);
      const dimensions = await proven(signal);
      return { vectors: await ask(texts, { dimensions, signal }).catch(blame), tokens: null };
    },
    embedQuery: async (text, { signal } = {}) => {
      checkTexts([text], maxInputs);
      const dimensions = await proven(signal);
      return { vectors: [await askQuery(text, { dimensions, signal }).catch(blame)], tokens: null };
    },
  };
}

interface AskOptions {
  /** The length that the vectors must have; the length of the settings, or any, when it is absent. */
  readonly dimensions?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks an instance for vectors of texts, which it may have to be cut for, and checks them. */
function createAsking(
  embeddings: EmbeddingsInterface,
  { timeoutMilliseconds, dimensions: wanted, prefixes = NO_PREFIXES }: OverOptions,
) {
  const calls = createCalls({
    component: EMBEDDING_PROVIDER,
    atOnce: CALLS_AT_ONCE,
    timeoutMilliseconds,
    refuse: (cause, tooLong) =>
      tooLong
        ? new TextTooLongError(tooLong.window, { cause })
        : new IngestError('provider', 'the embedding provider refused a text', { cause }),
  });
  const cut = (text: string) => cutToTokens(text, MAX_INPUT_TOKENS, countTokens);
  return {
    ask: (texts: readonly string[], { dimensions = wanted, signal }: AskOptions = {}) =>
      calls.run(async () => {
        const reply: unknown = await embeddings.embedDocuments(
          texts.map((text) => prefixes.document + cut(text)),
        );
        return readVectors(reply, { count: texts.length, dimensions });
      }, signal),
    askQuery: (text: string, { dimensions = wanted, signal }: AskOptions = {}) =>
      calls.run(async () => {
        const reply: unknown = await embeddings.embedQuery(prefixes.query + cut(text));
        return at(readVectors([reply], { count: 1, dimensions }), 0);
      }, signal),
  };
}

const listSchema = z.custom<readonly unknown[]>(Array.isArray);
const numbersSchema = z.custom<ArrayLike<unknown>>(
  (value) => Array.isArray(value) || value instanceof Float32Array || value instanceof Float64Array,
);

/** The vectors of a reply, one for each text, of unit length. @throws BadReplyError for anything else */
function readVectors(
  reply: unknown,
  { count, dimensions }: { readonly count: number; readonly dimensions: number | undefined },
): Float32Array[] {
  const list = listSchema.safeParse(reply);
  if (!list.success) throw new BadReplyError('is no list of vectors');
  if (list.data.length !== count) {
    throw new BadReplyError(`has ${String(list.data.length)} vectors for ${String(count)} texts`);
  }
  const vectors = list.data.map(readVector);
  const length = dimensions ?? at(vectors, 0).length;
  if (length === 0) throw new BadReplyError('has vectors without numbers');
  const wrong = vectors.find((vector) => vector.length !== length);
  if (wrong) {
    throw new BadReplyError(`has a vector of ${String(wrong.length)} numbers instead of ${String(length)}`);
  }
  return vectors.map(toUnitLength);
}

function readVector(value: unknown): Float32Array {
  const numbers = numbersSchema.safeParse(value);
  if (!numbers.success) throw new BadReplyError('has something that is no vector');
  return Float32Array.from(numbers.data, (each) => (typeof each === 'number' ? each : Number.NaN));
}

/** The similarity of two vectors of unit length. */
function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * at(right, index), 0);
}

/** The questions to a class before its vectors are used. */
interface Probes {
  readonly embedDocuments: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  readonly embedQuery: (text: string) => Promise<Float32Array>;
}

interface Proof {
  /** The length of the vectors. Asks until it was shown once. @throws UnavailableError */
  ready(): Promise<number>;
  /** Asks once more, though not often, after a text was refused. @throws UnavailableError when any text is refused */
  again(): Promise<number>;
}

/** Two texts that no model takes for the same. */
const PROBES: readonly [string, string] = ['The moon orbits the earth.', 'Bread is baked in ovens.'];
/** Providers compute a text of a batch and the same text alone with small differences. */
const SAME = 0.99;
const RETRY_SECONDS = 60;
const AGAIN_MILLISECONDS = 5_000;

/** Lets a class show that it keeps the order of its texts, before anything else is asked of it. */
function createProof(component: string, probes: Probes): Proof {
  const prove = () =>
    proveOrder(probes).catch((error: unknown) => {
      // The texts are ours: no document is at fault.
      const isWrong = error instanceof IngestError || error instanceof BadReplyError;
      throw isWrong
        ? new UnavailableError(component, { cause: error, retryAfterSeconds: RETRY_SECONDS })
        : error;
    });
  return { ready: loadOnce(prove), again: shareResult(AGAIN_MILLISECONDS, prove) };
}

/**
 * Embeds two texts together and each alone. LangChain tells no indexes, so that nothing else shows whether a class keeps
 * the order of its texts. @returns the length of the vectors @throws BadReplyError when they do not agree
 */
async function proveOrder({ embedDocuments, embedQuery }: Probes): Promise<number> {
  const [first, second] = PROBES;
  const together = await embedDocuments([first, second]);
  const alone = [...(await embedDocuments([first])), ...(await embedDocuments([second]))];
  const all = [...together, ...alone, await embedQuery(first)];
  const lengths = new Set(all.map(({ length }) => length));
  if (lengths.size > 1) throw new BadReplyError(`has vectors of several lengths: ${[...lengths].join(', ')}`);
  if (isSame(at(alone, 0), at(alone, 1))) throw new BadReplyError('has the same vector for different texts');
  if (!isSame(at(together, 0), at(alone, 0)) || !isSame(at(together, 1), at(alone, 1))) {
    throw new BadReplyError('has other vectors for two texts together than for each alone, or another order');
  }
  return at(together, 0).length;
}

function isSame(left: Float32Array, right: Float32Array): boolean {
  return cosine(left, right) >= SAME;
}
