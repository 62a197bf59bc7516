import { z } from 'zod';
import { at } from '../../at.js';
import { RerankError, toError } from '../../errors.js';
import { toWellFormed } from '../../json-values.js';
import type { Reranker, RerankScores } from '../../ports.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { createBoundedFetch, networkCause, parseRetryAfter } from '../../provider-http/bounded-fetch.js';
import { cutToTokens } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';

export interface HttpRerankerOptions {
  /** Null for servers that need no key. */
  readonly apiKey: string | null;
  /** `/rerank` is added to it, such as `https://api.cohere.com/v2`. */
  readonly baseUrl: string;
  readonly model: string;
  /**
   * `documents`: `{model, query, documents, top_n}` (Cohere, Jina, vLLM, llama-server); `texts`: `{query, texts, truncate}`
   * (text-embeddings-inference).
   */
  readonly protocol: 'documents' | 'texts';
  readonly scores: ScoreKind;
  readonly maxDocuments: number;
  /** Longer texts are cut, for servers that would refuse them; 0: none is. */
  readonly maxTextTokens: number;
  /** The function that sends requests; `fetch` by default. */
  readonly fetch?: typeof fetch | undefined;
}

/** A reply has some fields for each document. */
const BYTES_A_RESULT = 1_024;
/** Some servers send the documents back. JSON may write a character of two bytes with six. */
const BYTES_A_BYTE_SENT = 4;
const NOT_UNDERSTOOD = [400, 413, 422];

/** Scores from any server of the common protocol. It asks for all of them, and follows no redirect. */
export function createHttpReranker(options: HttpRerankerOptions): Reranker {
  const { model, maxDocuments, maxTextTokens, scores: kind } = options;
  const send = createSend(options);
  const cut = (text: string) =>
    toWellFormed(maxTextTokens > 0 ? cutToTokens(text, maxTextTokens, countTokens) : text);
  return {
    model,
    limits: { documents: maxDocuments },
    rerank: async (query, documents, { signal } = {}) => {
      signal?.throwIfAborted();
      if (documents.length === 0) return { scores: [], tokens: 0 };
      if (documents.length > maxDocuments)
        throw new RangeError(`more than ${String(maxDocuments)} documents in a request`);
      const body = JSON.stringify(bodyOf(options, cut(query), documents.map(cut)));
      try {
        const response = await sendTwiceIfBroken(() => send(body, documents.length, signal), signal);
        if (!response.ok) throw await refusal(response);
        return readReply(await response.text(), { count: documents.length, kind });
      } catch (error) {
        throw signal?.aborted === true ? toError(signal.reason) : translate(error);
      }
    },
  };
}

function bodyOf(
  { protocol, model }: HttpRerankerOptions,
  query: string,
  documents: readonly string[],
): Readonly<Record<string, unknown>> {
  switch (protocol) {
    case 'documents':
      return { model, query, documents, top_n: documents.length };
    case 'texts':
      return { query, texts: documents, truncate: true };
  }
}

function createSend({ apiKey, baseUrl, fetch: sendOne }: HttpRerankerOptions) {
  const url = `${baseUrl.replace(/\/$/, '')}/rerank`;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  return (body: string, documents: number, signal: AbortSignal | undefined): Promise<Response> => {
    const bytes = BYTES_A_RESULT * (documents + 1) + BYTES_A_BYTE_SENT * Buffer.byteLength(body);
    const fetchBounded = createBoundedFetch({ send: sendOne, bytes, lineBytes: Infinity });
    return fetchBounded(url, { method: 'POST', headers, body, ...(signal ? { signal } : {}) });
  };
}

/** A connection that was kept may have been closed just when the request went out, so that a new one is tried once. */
async function sendTwiceIfBroken(
  send: () => Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return send();
  }
}

/** The error for an answer that is none. Its text is not read, because providers quote keys and documents. */
async function refusal(response: Response): Promise<RerankError> {
  const { status, headers } = response;
  await response.body?.cancel();
  const wait = parseRetryAfter(headers, Date.now());
  return new RerankError(NOT_UNDERSTOOD.includes(status) ? 'refused' : 'unavailable', {
    pauseSeconds: wait === null ? null : wait / 1_000,
    cause: new Error(`the provider answered ${String(status)}`),
  });
}

function translate(error: unknown): Error {
  if (error instanceof RerankError) return error;
  const cause = badReplyIn(error);
  if (cause) return new RerankError('bad_reply', { cause });
  // Messages may quote a header, and with it the key.
  const failed = new Error('no usable answer from the provider', { cause: networkCause(error) });
  return new RerankError('unavailable', { cause: failed });
}

function badReplyIn(error: unknown): BadReplyError | null {
  if (error instanceof BadReplyError) return error;
  return error instanceof Error && error.cause instanceof BadReplyError ? error.cause : null;
}

/** The scores of a provider: already from 0 to 1, or numbers that a sigmoid brings there. */
type ScoreKind = 'probability' | 'logit';

const result = z
  .object({
    index: z.int().nonnegative(),
    /** The score in the common protocol. */
    relevance_score: z.number().optional(),
    /** The score of text-embeddings-inference. */
    score: z.number().optional(),
  })
  .transform(({ index, relevance_score: relevance, score }) => ({ index, score: relevance ?? score }));

const count = z.number().nonnegative().optional().catch(undefined);
/** Tokens in the replies of Jina, vLLM and llama-server (`usage`), and in the replies of Cohere (`meta`). */
const usage = z.object({ total_tokens: count }).nullish().catch(null);
const meta = z
  .object({ tokens: z.object({ input_tokens: count }).nullish() })
  .nullish()
  .catch(null);

const replySchema = z.union([
  z.object({ results: z.array(result), usage, meta }),
  z.array(result).transform((results) => ({ results, usage: null, meta: null })),
]);
type Reply = z.infer<typeof replySchema>;

/**
 * Reads the scores of `count` documents, in their order.
 * @throws BadReplyError for anything but one score for each of them, each a number of its kind
 */
function readReply(
  text: string,
  { count: expected, kind }: { readonly count: number; readonly kind: ScoreKind },
): RerankScores {
  const reply = parse(text);
  const { results } = reply;
  if (results.length !== expected)
    throw new BadReplyError(`has ${String(results.length)} results for ${String(expected)} documents`);
  const scores = new Array<number | undefined>(expected);
  for (const { index, score } of results) {
    if (index >= expected || scores[index] !== undefined)
      throw new BadReplyError('has missing or repeated indexes');
    scores[index] = toScore(score, kind);
  }
  return { scores: scores.map((_, i) => at(scores, i)), tokens: tokensOf(reply) };
}

function parse(text: string): Reply {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new BadReplyError('is no JSON');
  }
  const parsed = replySchema.safeParse(json);
  if (!parsed.success) throw new BadReplyError('has not the shape of a list of scores');
  return parsed.data;
}

function toScore(value: number | undefined, kind: ScoreKind): number {
  if (value === undefined || !Number.isFinite(value)) throw new BadReplyError('has results without a score');
  switch (kind) {
    case 'logit':
      return 1 / (1 + Math.exp(-value));
    case 'probability':
      if (value < 0 || value > 1) throw new BadReplyError('has scores that are not between 0 and 1');
      return value;
  }
}

const tokensOf = ({ usage: used, meta: about }: Reply): number | null =>
  used?.total_tokens ?? about?.tokens?.input_tokens ?? null;
