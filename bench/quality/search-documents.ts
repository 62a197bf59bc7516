import type { Ranking } from '../../src/shared/search/ranking.js';
import type { Target } from '../load/bench-service.js';
import { createBenchClient } from '../support/client.js';
import type { Scored } from './quality-sums.js';

const DEPTH = 100;
/** The number of hits of the first order that are scored anew by default. */
const RERANKED = 50;

interface Asked {
  readonly path: '/retrieve/chunks' | '/retrieve/docs';
  readonly query: string;
  /** The service's own choice without one. */
  readonly ranking?: Ranking;
  /** For the 50 best, with scores of the reranker. */
  readonly isReranked?: boolean;
}

/**
 * Searches as `user`, for the 100 best. Hits have the ids of the collection: `ids` maps the service's to them.
 */
export function createDocumentSearch(
  target: Target,
  { user, ids }: { readonly user: string; readonly ids: ReadonlyMap<string, string> },
) {
  const client = createBenchClient({ ...target, user });
  return {
    search: async ({ path, query, ranking, isReranked = false }: Asked): Promise<Scored[]> => {
      const k = isReranked ? RERANKED : DEPTH;
      const { status, body, headers } = await client.post(path, { query, k, ranking, rerank: isReranked });
      if (status !== 200) throw new Error(`search answered ${String(status)}: ${body}`);
      const rerank = headers['quire-rerank'];
      if (isReranked && rerank !== 'applied') throw new Error(`not reranked: ${String(rerank)}`);
      // @NOTE the service's own answer, which its tests hold against its schema
      const hits = JSON.parse(body) as { document_id: string; score: number }[];
      return hits.map(({ document_id, score }) => ({ id: ids.get(document_id) ?? 'stranger', score }));
    },
    close: () => client.close(),
  };
}
