import { z } from 'zod';
import { at } from '../../at.js';
import type { RerankScores } from '../../ports.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';

/** The scores of a provider: already from 0 to 1, or numbers that a sigmoid brings there. */
export type ScoreKind = 'probability' | 'logit';

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
export function readReply(
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
