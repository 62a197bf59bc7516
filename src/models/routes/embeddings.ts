import { z } from 'zod';
import {
  allOrNone,
  MAX_TEXT_CHARACTERS,
  TEXTS_AT_ONCE,
  whileConnected,
  type Handler,
  type RouteParts,
} from './route.js';

const text = z.string().min(1).max(MAX_TEXT_CHARACTERS);
const bodySchema = z.object({
  model: z.string(),
  input: z.union([text.transform((one) => [one]), z.array(text).min(1).max(2_048)]),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  /** Texts that somebody waits for are embedded before the texts of documents. */
  input_type: z.enum(['query', 'document']).default('document'),
});

/** `POST /v1/embeddings` in the shape of OpenAI's API. */
export const embeddings =
  ({ models, metrics }: RouteParts): Handler =>
  async (request, response) => {
    const { model, input, encoding_format, input_type } = bodySchema.parse(request.body);
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
