import { z } from 'zod';
import { MAX_FILTER_BYTES } from '../../shared/filters/parse.js';
import { isWellFormed } from '../../shared/json-values.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute } from '../http/route.js';
import { isLonger, jsonInteger, list, optionalNullOr } from '../http/validation/field-schemas.js';
import { bodyFilters, collectionField, sharedField } from '../http/validation/search-fields.js';
import { MESSAGES } from '../http/validation/validation-errors.js';
import type { CountFacets, Facet } from '../services/documents/count-facets.js';
import { countFacetsExamples } from './examples/documents.js';

const MAX_KEYS = 10;
const MAX_KEY_CHARACTERS = 256;
const MAX_VALUES = 100;
const BODY_BYTES = 6 * MAX_FILTER_BYTES + 64 * 1024;

/** Keys that begin with `$` are the service's own, as in filters. */
const key = z
  .string()
  .min(1)
  .check(({ value: input, issues }) => {
    if (isLonger(input, MAX_KEY_CHARACTERS)) {
      const bound = { origin: 'string', maximum: MAX_KEY_CHARACTERS, inclusive: true } as const;
      issues.push({ code: 'too_big', ...bound, input });
    } else if (!isWellFormed(input)) issues.push({ code: 'custom', message: MESSAGES.surrogate, input });
    else if (input.startsWith('$'))
      issues.push({ code: 'custom', message: 'a key does not begin with $', input });
  })
  .meta({ maxLength: MAX_KEY_CHARACTERS, pattern: '^(?!\\$)' });

const facetsBody = z
  .object({
    keys: list(key, { min: 1, max: MAX_KEYS }).describe(
      'Keys of the metadata, or fields of documents, as filters name them (`topic`, `author.name`, `content_type`, ' +
        '`system_metadata.owner`); and `system_metadata.status`.',
    ),
    filters: bodyFilters,
    limit: optionalNullOr(jsonInteger({ ge: 1, le: MAX_VALUES }), 10).describe(
      'How many values of a key are returned at most.',
    ),
    shared: sharedField,
    collection: collectionField,
  })
  .meta({ id: 'FacetsRequest', description: 'The keys whose values are counted, and the documents.' });

const facet = z
  .object({
    key: z.string(),
    documents: z.int().min(0).describe('How many of the documents have a value there.'),
    values: z
      .array(
        z.object({
          value: z
            .union([z.string(), z.number(), z.boolean(), z.null()])
            .describe('With its type: `1` and `"1"` are two values.'),
          count: z.int().min(1).describe('How many documents have it.'),
        }),
      )
      .describe('The most frequent first.'),
    other: z
      .int()
      .min(0)
      .describe(
        'The counts of all other values together. A document counts once for each value that it has.',
      ),
    complete: z
      .boolean()
      .describe('False if values were too many or too long to be told apart; these are part of `other`.'),
  })
  .meta({ id: 'Facet', description: 'The values of one key, and how many documents have each.' });

const facetsView = z
  .object({
    total: z.int().min(0).describe('How many documents match.'),
    counted: z.int().min(0).describe('How many of them were looked at: all, or the newest 100,000.'),
    facets: z.array(facet).describe('One for each key, in the order of the keys.'),
  })
  .meta({
    id: 'Facets',
    description: 'How often values occur among the documents that the caller may read.',
  });

const viewFacet = ({ values, ...counts }: Facet): z.infer<typeof facet> => ({
  ...counts,
  values: [...values],
});

export const facetsRoute = (countFacets: CountFacets) =>
  defineRoute({
    method: 'post',
    tag: 'Documents',
    permission: 'read',
    path: '/documents/facets',
    audit: 'document.facets',
    maxBodyBytes: BODY_BYTES,
    summary: 'Count the values of metadata',
    description:
      'Counts how many of the documents that the caller may read and that match the filter have each value of a key. In a ' +
      'list, each element counts once. Only documents of this moment are counted, as in `GET /documents`.',
    request: { body: facetsBody },
    responses: { 200: facetsView, 404: errorBody },
    examples: countFacetsExamples,
    handle: async ({ body, caller, signal }, reply) => {
      const { keys, filters, limit, shared, collection } = body;
      const asked = { keys: [...new Set(keys)], filter: filters.filter, limit, shared, collection };
      const { facets, ...counts } = await countFacets({ ...asked, principal: caller.principal, signal });
      return reply.json(200, { ...counts, facets: facets.map(viewFacet) });
    },
  });
