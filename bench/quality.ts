import { createBenchClient, eachAtOnce, round } from './support/client.js';
import { ndcgAt10, recallAt, type Collection } from './support/collections.js';

/** Retrieval quality over /retrieve/chunks: 100 chunks a query, documents ranked by their best chunk. */
export async function measureQuality(
  target: { readonly url: string; readonly secret: string },
  { name, queries, relevant }: Collection,
  { user, ids }: { user: string; ids: ReadonlyMap<string, string> },
) {
  const client = createBenchClient({ ...target, user });
  const sums = { ndcg: 0, recall10: 0, recall100: 0 };
  await eachAtOnce(queries, 4, async ({ id, text }) => {
    const { status, body } = await client.post('/retrieve/chunks', { query: text, k: 100 });
    if (status !== 200) throw new Error(`search answered ${String(status)}: ${body}`);
    // @NOTE the service's own answer, which its tests hold against its schema
    const hits = JSON.parse(body) as { document_id: string }[];
    const ranked = [...new Set(hits.map((hit) => ids.get(hit.document_id) ?? 'stranger'))];
    const wanted = relevant.get(id) ?? new Set();
    sums.ndcg += ndcgAt10(ranked, wanted);
    sums.recall10 += recallAt(10, ranked, wanted);
    sums.recall100 += recallAt(100, ranked, wanted);
  });
  client.close();
  const mean = (sum: number) => round(sum / queries.length, 4);
  return {
    collection: name,
    queries: queries.length,
    ndcg10: mean(sums.ndcg),
    recall10: mean(sums.recall10),
    recall100: mean(sums.recall100),
  };
}
