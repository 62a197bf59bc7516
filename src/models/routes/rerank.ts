import { z } from 'zod';
import { whileConnected, type Handler, type RouteParts } from './route.js';

const MAX_CHARACTERS = 1024 ** 2;
const text = z.string().max(MAX_CHARACTERS);
const bodySchema = z.object({
  model: z.string(),
  query: text.min(1),
  documents: z.array(text).min(1).max(1_000),
  top_n: z.int().min(1).nullish(),
});

/** `POST /v1/rerank` in the shape that Cohere, Jina and vLLM share. Scores are from 0 to 1. */
export const rerank =
  ({ models, metrics }: RouteParts): Handler =>
  async (request, response) => {
    const { model, query, documents, top_n } = bodySchema.parse(request.body);
    const turn = { isUrgent: true, signal: whileConnected(response) };
    const ranked = await metrics.during('ranking', () =>
      models.use(model, 'ranking', (use) =>
        Promise.all(
          documents.map(async (document, index) => ({ index, ...(await use.rank(query, document, turn)) })),
        ),
      ),
    );
    const tokens = ranked.reduce((sum, each) => sum + each.tokens, 0);
    metrics.addTokens('ranking', 'read', tokens);
    response.json({
      model,
      results: ranked
        .sort((one, other) => other.score - one.score || one.index - other.index)
        .slice(0, top_n ?? undefined)
        .map(({ index, score }) => ({ index, relevance_score: score })),
      usage: { total_tokens: tokens },
    });
  };
