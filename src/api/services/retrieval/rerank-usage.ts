import type { RerankReport } from '../../../shared/search/reranked-search.js';
import type { AccountedRequest } from '../usage-accounting.js';

/** Makes the usage of an operation: its tokens, with the outcome of reranking and its tokens, where it was asked for. */
export function withRerank(
  request: AccountedRequest,
  tokens: number,
  rerank: RerankReport | null,
): { readonly request: AccountedRequest; readonly tokens: number } {
  if (rerank === null) return { request, tokens };
  const reranked = rerank.outcome === 'applied';
  const metadata = { ...request.metadata, reranked, ...(reranked ? { rerank_tokens: rerank.tokens } : {}) };
  return { request: { ...request, metadata }, tokens: tokens + rerank.tokens };
}
