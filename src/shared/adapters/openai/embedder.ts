import { createHash } from 'node:crypto';
import { z } from 'zod';
import { at } from '../../at.js';
import { IngestError, TextTooLongError, UnavailableError } from '../../errors.js';
import { checkTexts, toUnitLength } from '../../models/provider-vectors.js';
import type { CallOptions, Embedder, Embeddings } from '../../ports.js';
import { cutToTokens } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { createOpenAIClient, type OpenAIConnection } from './client.js';
import { RefusedError } from './provider-errors.js';

export interface OpenAIEmbedderOptions extends OpenAIConnection {
  readonly model: string;
  /** Length of the vectors to ask for; the model decides when it is absent. */
  readonly dimensions?: number | undefined;
  readonly maxInputs?: number;
  readonly maxTokens?: number;
  /** The name of the model in the data; its name at the provider by default. */
  readonly name?: string;
  /** The texts that the model wants before each text. */
  readonly prefixes?: { readonly query: string; readonly document: string };
  /** True if the server is told which texts are queries, so that it can take them first. */
  readonly tellsQueries?: boolean;
  /** Texts of more tokens are cut, because the model would refuse them. */
  readonly maxInputTokens?: number;
}

const COMPONENT = 'embedding provider';
const BAD_REPLY_RETRY_SECONDS = 30;

type InputType = 'query' | 'document';
const NO_PREFIXES = { query: '', document: '' };

const replySchema = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative(),
      embedding: z.union([z.string(), z.custom<readonly unknown[]>(Array.isArray)]),
    }),
  ),
  usage: z.object({ prompt_tokens: z.number().nonnegative() }).nullish().catch(null),
});
type Reply = z.infer<typeof replySchema>;

/** Embeddings from any server that speaks OpenAI's protocol. Replies are checked, and vectors brought to unit length. */
export function createOpenAIEmbedder(options: OpenAIEmbedderOptions): Embedder {
  const {
    model,
    maxInputs = 2048,
    maxTokens = 300_000,
    maxInputTokens = 8192,
    prefixes = NO_PREFIXES,
  } = options;
  const name = options.name ?? `openai:${model}${options.dimensions ? `:${String(options.dimensions)}` : ''}`;
  const request = createRequest(options);
  let knownDimensions = options.dimensions;

  const embed = async (
    texts: readonly string[],
    type: InputType,
    { signal }: CallOptions = {},
  ): Promise<Embeddings> => {
    if (texts.length === 0) return { vectors: [], tokens: 0 };
    checkTexts(texts, maxInputs);
    const input = texts.map((text) => prefixes[type] + cutToTokens(text, maxInputTokens, countTokens));
    const reply = parseReply(await request(input, type, signal));
    const decoded = orderedVectors(reply, texts.length);
    const dimensions = checkDimensions(decoded, knownDimensions);
    const vectors = decoded.map(toUnitLength);
    knownDimensions = dimensions;
    return { vectors, tokens: reply.usage?.prompt_tokens ?? null };
  };

  const probe = shareProbe(() => embed(['dimensions'], 'query'));
  return {
    model: name + prefixMark(prefixes),
    limits: { inputs: maxInputs, tokens: maxTokens },
    dimensions: async ({ signal } = {}) => {
      signal?.throwIfAborted();
      return knownDimensions ?? probe();
    },
    embedDocuments: (texts, call) => embed(texts, 'document', call),
    embedQuery: (text, call) => embed([text], 'query', call),
    embedQueries: (texts, call) => embed(texts, 'query', call),
  };
}

/** Shares one request among all who ask for the length of vectors meanwhile. */
function shareProbe(embed: () => Promise<Embeddings>): () => Promise<number> {
  let running: Promise<Embeddings> | null = null;
  return async () => {
    running ??= embed().finally(() => {
      running = null;
    });
    const { vectors } = await running.catch(blameProvider);
    return at(vectors, 0).length;
  };
}

/** Vectors of other prefixes are vectors of another model. */
function prefixMark(prefixes: Readonly<Record<InputType, string>>): string {
  if (prefixes.query === '' && prefixes.document === '') return '';
  const digest = createHash('sha256')
    .update(JSON.stringify([prefixes.query, prefixes.document]))
    .digest('hex');
  return `:prefix-${digest.slice(0, 8)}`;
}

/** Asks for vectors in base64, or as lists of numbers once the provider has refused base64. */
function createRequest(options: OpenAIEmbedderOptions) {
  const { model, dimensions, tellsQueries = false } = options;
  const client = createOpenAIClient(COMPONENT, options, 'whole');
  let encoding: 'base64' | 'float' = 'base64';

  const send = async (input: string[], type: InputType, signal?: AbortSignal): Promise<unknown> => {
    const body = {
      model,
      input,
      ...(dimensions ? { dimensions } : {}),
      ...(tellsQueries ? { input_type: type } : {}),
    };
    const { reply, deadline } = await client.request(
      // Without a named format the client decodes the reply itself, and garbles lists of floats from servers without base64.
      (openai, call) => openai.embeddings.create({ ...body, encoding_format: encoding }, call),
      signal,
    );
    deadline.clear();
    return reply;
  };
  return async (input: string[], type: InputType, signal?: AbortSignal): Promise<unknown> => {
    try {
      return await send(input, type, signal);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      const isEncoding = encoding === 'base64' && error.parameters.includes('encoding_format');
      if (!isEncoding) throw translateRefusal(error);
    }
    encoding = 'float';
    return send(input, type, signal).catch((error: unknown) => {
      throw error instanceof RefusedError ? translateRefusal(error) : error;
    });
  };
}

/** Turns a refusal of our own probe text into a failure of the provider, since no document is at fault. */
function blameProvider(error: unknown): never {
  throw error instanceof IngestError ? new UnavailableError(COMPONENT, { cause: error }) : error;
}

/** Tells refusals of the model or a setting, which the operator must mend, from refusals of a text. */
function translateRefusal(refusal: RefusedError): Error {
  if (refusal.tooLong) return new TextTooLongError(refusal.tooLong.window, { cause: refusal });
  if (refusal.parameters.some((name) => ['model', 'dimensions', 'encoding_format'].includes(name))) {
    return new UnavailableError(COMPONENT, { cause: refusal, retryAfterSeconds: BAD_REPLY_RETRY_SECONDS });
  }
  const message = `the embedding provider refused a text (status ${String(refusal.status)})`;
  return new IngestError('provider', message, { cause: refusal });
}

function badReply(problem: string): UnavailableError {
  return new UnavailableError(COMPONENT, {
    retryAfterSeconds: BAD_REPLY_RETRY_SECONDS,
    cause: new BadReplyError(`has ${problem}`),
  });
}

function parseReply(reply: unknown): Reply {
  const parsed = replySchema.safeParse(reply);
  if (!parsed.success) throw badReply('not the shape of a list of embeddings');
  return parsed.data;
}

/** Returns the vectors in the order of the texts, which `index` gives in the reply. */
function orderedVectors({ data }: Reply, count: number): Float32Array[] {
  if (data.length !== count) throw badReply(`${String(data.length)} vectors for ${String(count)} texts`);
  const sorted = [...data].sort((left, right) => left.index - right.index);
  if (sorted.some(({ index }, position) => index !== position)) throw badReply('missing or repeated indexes');
  return sorted.map(({ embedding }) => decodeVector(embedding));
}

function decodeVector(embedding: string | readonly unknown[]): Float32Array {
  if (typeof embedding !== 'string') {
    return Float32Array.from(embedding, (value) => (typeof value === 'number' ? value : Number.NaN));
  }
  const bytes = Buffer.from(embedding, 'base64');
  if (bytes.length % 4 !== 0) throw badReply('a vector that is no base64 of 32-bit floats');
  // The bytes are copied, since a Float32Array must begin at a multiple of four. All but one platform of Node 20 are
  // little-endian.
  return new Float32Array(new Uint8Array(bytes).buffer);
}

function checkDimensions(vectors: readonly Float32Array[], expected: number | undefined): number {
  const dimensions = expected ?? at(vectors, 0).length;
  if (dimensions === 0) throw badReply('vectors without numbers');
  const wrong = vectors.find((vector) => vector.length !== dimensions);
  if (wrong) throw badReply(`a vector of ${String(wrong.length)} numbers instead of ${String(dimensions)}`);
  return dimensions;
}
