import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { whileConnected, type Handler, type RouteParts } from './route.js';

/** A text of more characters is no chunk of a document and no question. */
const MAX_TEXT_CHARACTERS = 1024 ** 2;
/** Texts of one request that wait for the model at once, so that a long list does not fill its queue. */
const TEXTS_AT_ONCE = 16;

const text = z.string().max(MAX_TEXT_CHARACTERS);
const someText = text.min(1);

const embeddingsSchema = z.object({
  model: z.string(),
  input: z.union([someText.transform((one) => [one]), z.array(someText).min(1).max(2_048)]),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  /** Texts that somebody waits for are embedded before the texts of documents. */
  input_type: z.enum(['query', 'document']).default('document'),
});

/** `POST /v1/embeddings` in the shape of OpenAI's API. */
export const embeddings =
  ({ models, metrics }: RouteParts): Handler =>
  async (request, response) => {
    const { model, input, encoding_format, input_type } = embeddingsSchema.parse(request.body);
    const signal = whileConnected(response);
    const isUrgent = input_type === 'query';
    const embedded = await metrics.during('embedding', () =>
      models.use(model, 'embedding', (use) =>
        allOrNone(input, { atOnce: TEXTS_AT_ONCE, signal }, (each, turn) =>
          use.embed(each, { isUrgent, signal: turn }),
        ),
      ),
    );
    const tokens = embedded.reduce((sum, each) => sum + each.tokens, 0);
    metrics.addTokens('embedding', 'read', tokens);
    response.json({
      object: 'list',
      model,
      data: embedded.map(({ vector }, index) => ({
        object: 'embedding',
        index,
        embedding: encoding_format === 'base64' ? toBase64(vector) : [...vector],
      })),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
  };

/** 32-bit floats, little-endian as on all platforms that the engine runs on. */
function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

const rerankSchema = z.object({
  model: z.string(),
  query: someText,
  documents: z.array(text).min(1).max(1_000),
  top_n: z.int().min(1).nullish(),
});

/** `POST /v1/rerank` in the shape that Cohere, Jina and vLLM share. Scores are from 0 to 1. */
export const rerank =
  ({ models, metrics }: RouteParts): Handler =>
  async (request, response) => {
    const { model, query, documents, top_n } = rerankSchema.parse(request.body);
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

/**
 * Runs a task for each item, some at once. When one fails, no other is begun or goes on waiting: nobody gets their results. It
 * ends when all that were begun have ended, so that a model is not unloaded under them.
 */
export async function allOrNone<Item, Result>(
  items: readonly Item[],
  { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal },
  task: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const each = AbortSignal.any([signal, failed.signal]);
  setMaxListeners(0, each);
  const results = new Map<number, Result>();
  const entries = items.entries();
  const work = async () => {
    for (const [index, item] of entries) {
      each.throwIfAborted();
      results.set(index, await task(item, each));
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, work);
  for (const worker of workers)
    worker.catch((error: unknown) => {
      failed.abort(error);
    });
  await Promise.allSettled(workers);
  each.throwIfAborted();
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}
