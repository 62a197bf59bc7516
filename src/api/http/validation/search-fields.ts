import { z } from 'zod';
import type { ZodOpenApiSchemaObject } from 'zod-openapi';
import { SHARED } from '../../../shared/access/sharing.js';
import type { ValidationItem } from '../../../shared/errors.js';
import {
  MAX_FILTER_BYTES,
  MAX_CONDITIONS,
  MAX_DEPTH,
  MAX_LIST_VALUES,
  parseFilter,
  type Filter,
} from '../../../shared/filters/parse.js';
import { isWellFormed } from '../../../shared/json-values.js';
import { parseBounded } from '../json/json.js';
import { optionalNull, jsonInteger, nonBlankString } from './field-schemas.js';
import { parsePythonDict } from './python-literal.js';
import { MESSAGES, addItem, SURROGATE } from './validation-errors.js';

const SHARED_DESCRIPTION =
  'Which documents of others are found: `all`, those `accepted`, or none (`own`); never those of blocked owners. Without it, ' +
  'the setting `search.shared` decides.';

export const sharedField = optionalNull(z.enum(SHARED)).describe(SHARED_DESCRIPTION);
export const sharedParameter = z.enum(SHARED).optional().describe(SHARED_DESCRIPTION);

const MAX_COLLECTION_ID = 64;
const collectionId = nonBlankString({ max: MAX_COLLECTION_ID });
const COLLECTION_DESCRIPTION =
  'The `id` of a collection: only documents that were put into it and match its filter are found. One that you may not read is ' +
  'a 404.';

export const collectionField = optionalNull(collectionId).describe(COLLECTION_DESCRIPTION);
export const collectionParameter = collectionId.optional().describe(COLLECTION_DESCRIPTION);
/** The collection of a new document. */
export const intoCollection = optionalNull(collectionId);
export const INTO_DESCRIPTION =
  'The `id` of a collection into which the document is put. You need the right to write it.';

const MAX_TOP_N = 1_000;

const rerankOptions = z.object(
  { top_n: optionalNull(jsonInteger({ ge: 1, le: MAX_TOP_N })) },
  { error: MESSAGES.bool },
);

const RERANK_DESCRIPTION =
  'True to have the best hits scored anew by a model that reads query and text together (the setting `reranker`; 400 without ' +
  'one). `score` is then that score, and `min_score` is held against it. `{"top_n": n}` does so too, and returns `n` ' +
  'results at most. Where there are no such scores in time, the answer comes as without `rerank`; the header ' +
  '`Quire-Rerank` says `applied`, or `skipped; reason=…`.';

/** The field `rerank` of a JSON body; null where it is not wanted. */
export const rerankWish = z
  .preprocess((value) => (value === true ? {} : value === false ? null : value), rerankOptions.nullish())
  .transform((value) => (value ? { topN: value.top_n ?? null } : null))
  .optional()
  .transform((value) => value ?? null)
  .meta({
    override: {
      description: RERANK_DESCRIPTION,
      default: false,
      anyOf: [
        { type: ['boolean', 'null'] },
        {
          type: 'object',
          properties: { top_n: { type: ['integer', 'null'], minimum: 1, maximum: MAX_TOP_N } },
        },
      ],
    },
  });

const MAX_CHARACTERS = 65_536;

const bounds =
  `At most ${String(MAX_CONDITIONS)} conditions, ${String(MAX_DEPTH)} levels, ` +
  `${String(MAX_LIST_VALUES)} values in a list of \`$in\` or \`$nin\`, and ` +
  `${String(MAX_FILTER_BYTES)} bytes of keys and values as JSON; else 422.`;

/** The field may be null; the schema of filters themselves is in `filter-schemas.ts`. */
const filtersField: ZodOpenApiSchemaObject = {
  description: `Conditions on metadata, by key. ${bounds}`,
  anyOf: [{ $ref: '#/components/schemas/Filter' }, { type: 'null' }],
};

/** A client's filter, parsed and as it was sent; named caches store the latter. Both are null when it is absent. */
export interface RequestFilter {
  readonly filter: Filter | null;
  readonly json: unknown;
}

/** The field `filters` of a JSON body. */
export const bodyFilters = z
  .unknown()
  .transform((value, context) => toRequestFilter(value ?? null, context))
  .optional()
  .transform((value): RequestFilter => value ?? { filter: null, json: null })
  .meta({ id: 'Filters', override: structuredClone(filtersField) });

/** The JSON of a stored filter is bounded because it is shown in every list. */
const MAX_STORED_CHARACTERS = 16_384;
type StoredFilter = z.infer<ReturnType<typeof z.json>>;
const isJson = (value: unknown): value is StoredFilter => value !== undefined;

/** A filter that is kept as it was sent; null for none, and undefined where the request does not say. */
export const storedFilter = z
  .unknown()
  .transform((value, context): StoredFilter => {
    const { json } = toRequestFilter(value, context);
    // It was refused already.
    if (!isJson(json)) return z.NEVER;
    if (JSON.stringify(json).length <= MAX_STORED_CHARACTERS) return json;
    const msg = `ensure this value has at most ${String(MAX_STORED_CHARACTERS)} characters as JSON`;
    const ctx = { limit_value: MAX_STORED_CHARACTERS };
    addItem(context, { loc: [], msg, type: 'value_error.any_str.max_length', ctx });
    return z.NEVER;
  })
  .optional()
  .transform((value) => value)
  .meta({ override: structuredClone(filtersField) });

/** The parameter `filters` of a query string. */
export const queryFilters = z
  .string()
  .transform((text, context) => {
    const parsed = parseFilterText(text);
    if ('value' in parsed) return toRequestFilter(parsed.value, context);
    addItem(context, parsed.error);
    return z.NEVER;
  })
  .optional()
  .transform((value): RequestFilter => value ?? { filter: null, json: null })
  .meta({ description: `JSON, or what Python prints for a dict. ${bounds}` });

function toRequestFilter(json: unknown, context: z.RefinementCtx): RequestFilter {
  const parsed = parseFilter(json);
  if ('filter' in parsed) {
    // This is checked last, when the size of the filter is known to be within the limits.
    if (holdsWholeCharacters(json)) return { filter: parsed.filter, json };
    addItem(context, { loc: [], msg: MESSAGES.surrogate, type: SURROGATE });
    return z.NEVER;
  }
  // The schema already stands for the field `filters`.
  for (const item of parsed.errors) addItem(context, { ...item, loc: item.loc.slice(1) });
  return z.NEVER;
}

function holdsWholeCharacters(json: unknown): boolean {
  const waiting: unknown[] = [json];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string' && !isWellFormed(value)) return false;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (!isWellFormed(key)) return false;
      waiting.push(inner);
    }
  }
  return true;
}

/**
 * Reads JSON or, for existing clients, Python's print of a dict. Empty text, `None` and `null` mean that there is no
 * filter.
 */
export function parseFilterText(text: string): { value: unknown } | { error: ValidationItem } {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === 'None' || trimmed === 'null') return { value: null };
  const invalid = { error: { loc: [], msg: MESSAGES.json, type: 'value_error.jsondecode' } };
  if (trimmed.length > MAX_CHARACTERS) return invalid;
  const value =
    attempt(() => parseBounded(Buffer.from(trimmed), { exactFrom: 1 })) ??
    attempt(() => parsePythonDict(trimmed));
  return value ?? invalid;
}

/** Returns null for a syntax error, so that the other syntax can be tried. */
function attempt(parse: () => unknown): { value: unknown } | null {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
