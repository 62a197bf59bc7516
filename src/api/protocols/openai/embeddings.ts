import { endianness } from 'node:os';
import { z } from 'zod';
import { toWellFormed } from '../../../shared/json-values.js';
import { HttpError } from '../../http/http-error.js';
import { openAIError } from '../../http/response/error-shapes.js';
import { defineRoute, type ApiRequest, type Route } from '../../http/route.js';
import { jsonInteger, nonBlankString, optionalNull } from '../../http/validation/field-schemas.js';
import { addItem } from '../../http/validation/validation-errors.js';
import type { Embeddings } from '../../services/models/embeddings.js';
import { embeddingExamples } from './examples.js';
import { ALL_MODEL, unknownModel } from './model-names.js';
import { withoutEffect } from './unsupported.js';

/** As many as OpenAI takes. */
const MAX_TEXTS = 2_048;
const MAX_TEXT_CHARACTERS = 65_536;
const MAX_ALL_CHARACTERS = 1_000_000;
/** Room for texts whose every character is written as an escape of six bytes, and for the other fields. */
const BODY_BYTES = 6 * MAX_ALL_CHARACTERS + 64 * 1024;
/** Numbers in decimals, which are written at once: 131,072 take some 20 ms. Base64 takes a twentieth of the time. */
const MAX_DECIMALS = 131_072;

const input = z
  .union([z.string(), z.array(z.unknown()).min(1).max(MAX_TEXTS)])
  .transform((value, context): readonly string[] => {
    const texts: string[] = [];
    for (const [index, text] of (typeof value === 'string' ? [value] : value).entries()) {
      const loc = typeof value === 'string' ? [] : [index];
      const fault = faultOf(text);
      if (fault === null && typeof text === 'string') texts.push(toWellFormed(text));
      else {
        addItem(context, { loc, msg: fault ?? 'str type expected', type: 'value_error' });
        return z.NEVER;
      }
    }
    if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_ALL_CHARACTERS)
      addItem(context, { loc: [], msg: TOO_MUCH, type: 'value_error' });
    return texts;
  })
  .meta({
    override: {
      description: `A text, or a list of at most ${MAX_TEXTS.toLocaleString('en')} texts. Lists of tokens are refused.`,
      anyOf: [
        { type: 'string', minLength: 1, maxLength: MAX_TEXT_CHARACTERS },
        { type: 'array', minItems: 1, maxItems: MAX_TEXTS, items: { type: 'string' } },
      ],
    },
  });

const TOO_MUCH = `ensure all texts together have at most ${String(MAX_ALL_CHARACTERS)} UTF-16 units`;

function faultOf(text: unknown): string | null {
  if (typeof text !== 'string') return 'send texts: tokens of another model mean nothing here';
  if (!/\S/.test(text)) return 'ensure this value has at least 1 characters';
  if (text.length <= MAX_TEXT_CHARACTERS) return null;
  return `ensure this value has at most ${String(MAX_TEXT_CHARACTERS)} UTF-16 units`;
}

const embeddingBody = z
  .object({
    model: nonBlankString({ max: 512 }).describe('`quire`, or the name of the model in `GET /v1/models`.'),
    input,
    encoding_format: optionalNull(z.enum(['float', 'base64'])).describe(
      '`float` (the default) for numbers, `base64` for the bytes of 32-bit floats, little-endian.',
    ),
    dimensions: optionalNull(jsonInteger({ ge: 1 })).describe(
      'The length of the vectors, which is that of the model: any other is refused.',
    ),
    user: withoutEffect,
  })
  .meta({ id: 'EmbeddingRequest', description: 'Texts of which vectors are wanted.' });

const embeddingList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: 'EmbeddingList', description: 'A vector of each text, in order.' });

export const embeddingsRoute = (embeddings: Embeddings): Route =>
  defineRoute({
    method: 'post',
    path: '/v1/embeddings',
    tag: 'OpenAI',
    audit: 'model.embed',
    permission: 'read',
    summary: 'Make vectors of texts',
    description:
      'The vectors are those that the service makes of passages, by the model that it searches with. A request has at most ' +
      `${MAX_ALL_CHARACTERS.toLocaleString('en')} characters, and an answer in decimals at most ` +
      `${MAX_DECIMALS.toLocaleString('en')} numbers. Nothing is stored.`,
    maxBodyBytes: BODY_BYTES,
    request: { body: embeddingBody },
    responses: { 200: embeddingList, 404: openAIError },
    examples: embeddingExamples,
    handle: async (request, reply) => {
      const { body, caller, startedAtMs, signal } = request;
      await checkEmbedding(embeddings, request);
      const encode =
        body.encoding_format === 'base64' ? toBase64 : (vector: Float32Array): number[] => [...vector];
      const asked = { principal: caller.principal, startedAtMs, signal, texts: body.input };
      const answer = await embeddings.embed(asked, ({ vectors, tokens }) => ({
        object: 'list' as const,
        data: vectors.map((vector, index) => ({
          object: 'embedding' as const,
          index,
          embedding: encode(vector),
        })),
        model: embeddings.model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }));
      return reply.json(200, answer);
    },
  });

/** Refuses what this model does not make. @throws HttpError 404, 422 */
async function checkEmbedding(
  embeddings: Embeddings,
  { body, signal }: ApiRequest<unknown, unknown, z.output<typeof embeddingBody>>,
): Promise<void> {
  const { model, input: texts, encoding_format: encoding, dimensions } = body;
  if (model !== ALL_MODEL && model !== embeddings.model)
    throw unknownModel(model, `${ALL_MODEL} or ${embeddings.model} makes vectors`);
  const length = await embeddings.dimensions(signal);
  if (dimensions !== undefined && dimensions !== length)
    throw refusal('dimensions', `the vectors of this model have ${String(length)} dimensions`);
  if (encoding !== 'base64' && texts.length * length > MAX_DECIMALS)
    throw refusal(
      'input',
      `ask for base64, or for at most ${String(Math.floor(MAX_DECIMALS / length))} texts`,
    );
}

const refusal = (field: string, msg: string) =>
  new HttpError(422, [{ loc: ['body', field], msg, type: 'value_error' }]);

/** Little-endian, whatever the machine: the bytes of the vector itself where it is so there, since there may be megabytes. */
function toBase64(vector: Float32Array): string {
  const { buffer, byteOffset, byteLength } = vector;
  if (endianness() === 'LE') return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  const bytes = Buffer.allocUnsafe(byteLength);
  vector.forEach((value, index) => bytes.writeFloatLE(value, 4 * index));
  return bytes.toString('base64');
}
