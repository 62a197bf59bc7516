import { z } from 'zod';
import type { ModelDescription } from '../../../shared/local-models/description.js';
import type { ModelsAddress } from '../../../shared/local-models/processes/models-address.js';
import { postToModels } from '../ask-models.js';
import { perSecond, sanityLine, type Verdict } from './verdict.js';

const answerSchema = z.object({
  results: z.array(z.object({ index: z.int(), relevance_score: z.number() })),
  usage: z.object({ total_tokens: z.int() }),
});

const QUERY = 'How do plants make their food?';
const RELEVANT = 'Leaves turn sunlight, water and carbon dioxide into sugar by photosynthesis.';
const IRRELEVANT = 'Take off the wheel, find the hole in the inner tube and patch it.';
const PAIRS = 16;

export async function tryRanking(
  address: ModelsAddress,
  { id, fingerprint }: ModelDescription,
): Promise<Verdict> {
  const rank = async (documents: readonly string[]) => {
    const body = { model: `${id}@${fingerprint}`, query: QUERY, documents };
    return answerSchema.parse(await (await postToModels(address, '/v1/rerank', body)).json());
  };
  const { results } = await rank([IRRELEVANT, RELEVANT]);
  const scoreOf = (index: number) => results.find((each) => each.index === index)?.relevance_score ?? 0;
  const isSane = scoreOf(1) > scoreOf(0);
  const begin = performance.now();
  const { usage } = await rank(
    Array.from({ length: PAIRS }, (_, one) => `${String(one)}. ${RELEVANT} ${IRRELEVANT}`),
  );
  const milliseconds = performance.now() - begin;
  return {
    isSane,
    lines: [
      `  speed   ${perSecond(PAIRS, milliseconds)} texts a second of ${String(Math.round(usage.total_tokens / PAIRS))} tokens with the query`,
      sanityLine(
        isSane,
        `the text that answers has ${scoreOf(1).toFixed(3)}, the other ${scoreOf(0).toFixed(3)}`,
      ),
    ],
  };
}
