import { z } from 'zod';
import { CACHE_NAME } from '../../../shared/caches/cache-store.js';
import { MAX_FILTER_BYTES } from '../../../shared/filters/parse.js';
import { HttpError } from '../../http/http-error.js';
import type { ApiRequest } from '../../http/route.js';
import {
  list,
  nonBlankString,
  optionalNull,
  optionalNullOr,
  queryFloat,
  queryInteger,
} from '../../http/validation/field-schemas.js';
import { bodyFilters, queryFilters, type RequestFilter } from '../../http/validation/filters.js';
import { SHARED } from '../../../shared/access/sharing.js';
import type { CacheRequest } from '../../services/caches/cache-builds.js';
import { contextOf } from '../context-of.js';
import { completionOptions, MAX_QUERY_CHARACTERS } from '../retrieval.js';

const NAME_DESCRIPTION = 'The name of the cache.';
const name = z.string().regex(CACHE_NAME).describe(NAME_DESCRIPTION);
/** A name for looking a cache up: a name that no cache can have is unknown rather than invalid. */
export const anyName = z.object({ name: z.string().describe(NAME_DESCRIPTION) });
const modelName = nonBlankString({ max: 256 });
const MAX_DOCS = 100_000;
export const docs = list(z.string(), { max: MAX_DOCS });
/** Room for quoted ids with a comma and a blank each, and for the largest filter with each byte as an escape of six. */
export const DOCS_BODY_BYTES = 40 * MAX_DOCS + 6 * MAX_FILTER_BYTES + 64 * 1024;
/** The JSON of a cache's filters is bounded because it is stored and shown in every list. */
const MAX_FILTER_CHARACTERS = 16_384;

export const createBody = z.object({
  name,
  model: modelName.describe('Any name: a label that is returned.'),
  gguf_file: modelName.describe(
    'The name of a file in the models folder. With the engine `auto`, a cache whose file is not there is sent as a prompt.',
  ),
  filters: bodyFilters,
  docs: optionalNull(docs).describe('Ids of documents.'),
  shared: optionalNull(z.enum(SHARED)).describe(
    'Which documents of others the cache takes and answers from: `all`, those `accepted`, or none (`own`); never those of ' +
      'blocked owners. Without it, the setting `search.shared` decides when the cache is made.',
  ),
});
const inPlaceOf = (field: string) => `Stands for \`${field}\` of the body where that is left out.`;
export const createQuery = z.object({
  name: z.string().optional().describe(inPlaceOf('name')),
  model: z.string().optional().describe(inPlaceOf('model')),
  gguf_file: z.string().optional().describe(inPlaceOf('gguf_file')),
  filters: queryFilters.transform(({ json }) => json ?? undefined).describe(inPlaceOf('filters')),
});
export const queryBody = z.object({
  query: nonBlankString({ max: MAX_QUERY_CHARACTERS }),
  ...completionOptions,
  stream: optionalNullOr(z.boolean(), false).describe('True for an answer as server-sent events.'),
});
export const queryQuery = z.object({
  query: z.string().optional().describe(inPlaceOf('query')),
  max_tokens: queryInteger().optional().describe(inPlaceOf('max_tokens')),
  temperature: queryFloat().optional().describe(inPlaceOf('temperature')),
});

export function requestOf(cacheName: string, request: ApiRequest<unknown, unknown, unknown>): CacheRequest {
  const { callerId: ownerId, ...context } = contextOf(request);
  return { ...context, ownerId, name: cacheName };
}

/** @throws HttpError 422 */
export function checkFilterLength({ json }: RequestFilter): void {
  if (json === null || JSON.stringify(json).length <= MAX_FILTER_CHARACTERS) return;
  throw new HttpError(422, [
    {
      loc: ['body', 'filters'],
      msg: `ensure this value has at most ${String(MAX_FILTER_CHARACTERS)} characters as JSON`,
      type: 'value_error.any_str.max_length',
      ctx: { limit_value: MAX_FILTER_CHARACTERS },
    },
  ]);
}
