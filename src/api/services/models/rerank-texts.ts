import type { Principal } from '../../../shared/access/access.js';
import { ImpossibleError, NotFoundError, UnavailableError } from '../../../shared/errors.js';
import type { Reranking } from '../../../shared/models/reranking.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';

export interface RerankTextsRequest {
  readonly principal: Principal;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly query: string;
  readonly documents: readonly string[];
}

/**
 * Scores texts of a caller by how well they answer a query, each from 0 to 1.
 * @throws NotFoundError without a reranker; UnavailableError when it cannot answer; ImpossibleError when it refuses
 */
export type RerankTexts = (request: RerankTextsRequest) => Promise<RerankedTexts>;

export interface RerankedTexts {
  /** One for each text, in order. */
  readonly scores: readonly number[];
  readonly tokens: number;
}

/** Searches have an answer without the scores, and wait less. */
const MIN_MILLISECONDS = 30_000;
const RETRY_AFTER_SECONDS = 5;

export function createRerankTexts({
  reranking,
  accounting,
}: {
  readonly reranking: Reranking | null;
  readonly accounting: Accounting;
}): RerankTexts {
  return async (request) => {
    if (!reranking)
      throw new NotFoundError('There is no reranker: the setting `reranker` of the service is "none"');
    return accounting.run(accounted(request), async () => {
      const result = await rerank(reranking, request);
      return { result, tokens: result.tokens };
    });
  };
}

async function rerank(
  reranking: Reranking,
  { principal, query, documents, signal }: RerankTextsRequest,
): Promise<RerankedTexts> {
  const milliseconds = Math.max(MIN_MILLISECONDS, reranking.deadlineMilliseconds);
  const task = { callerId: principal.id, query, documents, milliseconds, signal };
  const reranked = await reranking.rerank(task);
  if (reranked.type === 'applied') return reranked;
  if (reranked.reason === 'refused') throw new ImpossibleError('The reranking provider refuses these texts');
  throw new UnavailableError('reranking provider', { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function accounted({
  principal,
  startedAtMs,
  signal,
  query,
  documents,
}: RerankTextsRequest): AccountedRequest {
  const metadata = { query, documents: documents.length };
  return { operation: 'rerank', userId: principal.id, startedAtMs, signal, metadata };
}
