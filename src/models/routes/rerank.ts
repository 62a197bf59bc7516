import { z } from 'zod';
import {
  allOrNone,
  MAX_TEXT_CHARACTERS,
  TEXTS_AT_ONCE,
  whileConnected,
  type Handler,
  type RouteParts,
} from './route.js';

const text = z.string().max(MAX_TEXT_CHARACTERS);
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
    const signal = whileConnected(response);
    const ranked = await metrics.during('ranking', () =>
      models.use(model, 'ranking', (use) =>
        allOrNone(documents, { atOnce: TEXTS_AT_ONCE, signal }, (document, turn) =>
          use.rank(query, document, { isUrgent: true, signal: turn }),
        ),
      ),
    );
    const tokens = ranked.reduce((sum, each) => sum + each.tokens, 0);
    metrics.addTokens('ranking', 'read', tokens);
    response.json({
      model,
      results: ranked
        .map((each, index) => ({ ...each, index }))
        .sort((one, other) => other.score - one.score || one.index - other.index)
        .slice(0, top_n ?? undefined)
        .map(({ index, score }) => ({ index, relevance_score: score })),
      usage: { total_tokens: tokens },
    });
  };
