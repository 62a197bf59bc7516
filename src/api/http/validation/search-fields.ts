import { z } from 'zod';
import { SHARED } from '../../../shared/access/sharing.js';
import { optionalNull, jsonInteger } from './field-schemas.js';
import { MESSAGES } from './validation-errors.js';

const SHARED_DESCRIPTION =
  'Which documents of others are found: `all`, those `accepted`, or none (`own`); never those of blocked owners. Without it, ' +
  'the setting `search.shared` decides.';

export const sharedField = optionalNull(z.enum(SHARED)).describe(SHARED_DESCRIPTION);
export const sharedParameter = z.enum(SHARED).optional().describe(SHARED_DESCRIPTION);

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
