import { z } from 'zod';
import { RANKINGS } from '../../shared/search/ranking.js';
import type { Explanation } from '../../shared/search/explain-hits.js';
import type { Match, SearchNotes } from '../../shared/search/request.js';
import type { TextSpan } from '../../shared/text/sentences.js';
import { CONTEXT_MODES, MAX_CONTEXT_CHUNKS, type ContextWish } from '../../shared/search/widen-hits.js';
import { jsonInteger, optionalNull, optionalNullOr } from '../http/validation/field-schemas.js';
import { DOCUMENT_STATUSES } from '../../shared/document.js';
import {
  EXPLAINED_REASONS,
  type DocumentExplanation,
  type ExplainedReason,
} from '../services/retrieval/explain-document.js';
import type { BestChunk } from '../services/retrieval/found-documents.js';
import { failure } from './document-view.js';

/** The fields of searches that ask for more than hits, and the fields of results that answer them. */

/** Most results that are widened by one request. */
const MAX_WIDENED = 100;
const MAX_CONTEXT_TOKENS = 32_768;
const CONTEXT_TOKENS = 2_048;

const side = optionalNull(jsonInteger({ ge: 0, le: MAX_CONTEXT_CHUNKS }));

const context = z
  .object({
    mode: optionalNullOr(z.enum(CONTEXT_MODES), 'window').describe(
      '`window`: one chunk before and one after, or `before` and `after`. `section`: the chunks around it under the same ' +
        'headings; without headings, the eight that count in its score. `document`: all chunks of the document.',
    ),
    before: side.describe('The most chunks before a hit.'),
    after: side.describe('The most chunks after a hit.'),
    max_tokens: optionalNullOr(jsonInteger({ ge: 1, le: MAX_CONTEXT_TOKENS }), CONTEXT_TOKENS).describe(
      'The most tokens of a hit with its chunks around it, nearest first. A longer hit stays whole.',
    ),
  })
  .meta({ id: 'Context', description: 'The chunks around a hit that are shown with it.' });

export const contextField = optionalNull(context).describe(
  'Widens hits, once they are ranked, by the chunks around them in the same version of the document. Hits that come to ' +
    'share chunks are joined, in the place and with the score of the best; `matches` says where each stands in `content`. ' +
    `With it, \`k\` is at most ${String(MAX_WIDENED)}.`,
);
export const highlightField = optionalNullOr(z.boolean(), false).describe(
  'True for the parts of the text by which each result was found: words of the query as the search reads them, or, after ' +
    'a search by meaning, the nearest sentences.',
);
export const explainField = optionalNullOr(z.boolean(), false).describe(
  'True to have the scores of the first 100 results explained. The header `Server-Timing` tells the times of the steps.',
);

/** Refuses more results than are widened. */
export function checkWidened({
  value,
  issues,
}: z.core.ParsePayload<{ readonly k: number; readonly context?: unknown }>): void {
  if (!value.context || value.k <= MAX_WIDENED) return;
  const bound = { code: 'too_big', origin: 'number', maximum: MAX_WIDENED, inclusive: true } as const;
  issues.push({ ...bound, path: ['k'], input: value.k });
}

export const toContext = (wish: z.infer<typeof context> | undefined): ContextWish | undefined =>
  wish && { mode: wish.mode, before: wish.before, after: wish.after, maxTokens: wish.max_tokens };

const share = z.number().min(0).max(1);
const place = z.int().min(0).describe('In UTF-16 units of `content`.');

const highlights = z
  .array(z.object({ start: place, end: place }))
  .optional()
  .describe('The parts of `content` by which it was found, at most 100, with `highlight`.');

const match = z
  .object({ chunk_number: z.int().min(0), start: place, end: place, score: share })
  .meta({ id: 'Match', description: 'A hit within the text of a widened result.' });

const explainedTerm = z
  .object({
    term: z.string().describe('The word as the query writes it.'),
    weight: share.describe('Its part of what the query says, by the documents that the caller owns.'),
    own: share.describe('How much of that the chunk covers.'),
    section: share.describe('How much of that the chunk covers together with those around it.'),
    share: share.describe('Its part in the score.'),
  })
  .meta({ id: 'ExplainedTerm', description: 'A word of the query, and what it adds to a score.' });

const explanation = z
  .object({
    ranking: z.enum(RANKINGS),
    score: share.describe(
      'The score of the ranking. The shares of all terms and of the vector add up to it.',
    ),
    words: z
      .object({
        share: share.describe('The part of the words in the score.'),
        weight: share.describe('How much words count in this ranking.'),
        own: share,
        section: share,
        terms: z.array(explainedTerm).describe('Heaviest first, at most 128.'),
      })
      .nullable()
      .describe('Null where words do not count.'),
    vector: z
      .object({
        share: share.describe('The part of the vectors in the score.'),
        weight: share.describe('How much vectors count in this ranking.'),
        similarity: z.number(),
        floor: z.number().describe('The similarity from which on it counts.'),
      })
      .nullable()
      .describe('Null where vectors do not count.'),
    reranked: share
      .nullable()
      .describe('The score of the reranker, which took its place; null where there is none.'),
  })
  .meta({ id: 'Explanation', description: 'The parts of a score.' });

const explanationField = explanation
  .nullable()
  .optional()
  .describe('The parts of the score, with `explain`; null beyond the first 100 results.');

/** The fields that a chunk has where they were asked for. */
export const chunkDetails = {
  highlights,
  matches: z
    .array(match)
    .optional()
    .describe('The hits that were widened to this text, in its order, with `context`.'),
  explanation: explanationField,
};

/** The same of a document. */
export const documentDetails = {
  best_chunk: z
    .object({ chunk_number: z.int().min(0), content: z.string(), highlights: highlights.unwrap() })
    .optional()
    .describe('The chunk by which it was found, with `highlight`.'),
  explanation: explanationField,
};

interface Details {
  readonly highlights?: readonly TextSpan[] | undefined;
  readonly matches?: readonly Match[] | undefined;
  readonly explanation?: Explanation | null | undefined;
}

/** The fields that nobody asked for are undefined, and so are not sent. */
export const viewChunkDetails = ({ highlights: marked, matches, explanation: explained }: Details) => ({
  highlights: marked?.map(viewSpan),
  matches: matches && viewMatches(matches),
  explanation: explained && viewExplanation(explained),
});

export const viewDocumentDetails = ({
  bestChunk,
  explanation: explained,
}: Pick<Details, 'explanation'> & { readonly bestChunk?: BestChunk | undefined }) => ({
  best_chunk: bestChunk && {
    chunk_number: bestChunk.chunkNumber,
    content: bestChunk.content,
    highlights: bestChunk.highlights.map(viewSpan),
  },
  explanation: explained && viewExplanation(explained),
});

export const viewMatches = (matches: readonly Match[]) =>
  matches.map(({ chunkNumber, start, end, score }) => ({ chunk_number: chunkNumber, start, end, score }));

const viewSpan = ({ start, end }: TextSpan) => ({ start, end });

function viewExplanation(explained: Explanation): z.infer<typeof explanation> {
  const { words, vector, ...rest } = explained;
  return {
    ...rest,
    words: words && { ...words, terms: words.terms.map((term) => ({ ...term })) },
    vector: vector && { ...vector },
  };
}

/** Returns the header that tells the milliseconds of the steps of a search, where an explanation was asked for. */
export function timingHeaders(times: SearchNotes['times'] | null): Readonly<Record<string, string>> {
  if (times === null) return {};
  const steps = Array.from(times, ([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(2)}`);
  return { 'Server-Timing': steps.join(', ') };
}

const REASONS: Readonly<Record<ExplainedReason, string>> = {
  found: 'The document is in the answer.',
  not_published: 'The document has no content yet that searches find; its status says more.',
  not_in_collection: 'The document is not in the collection, or does not match its filter.',
  filtered: 'The document does not fulfil the filter.',
  not_shared: 'The document belongs to somebody whose documents this search leaves out: see `shared`.',
  no_common_word: 'The document holds none of the words of the query.',
  below_min_score: 'The best chunk of the document scores less than `min_score`.',
  beyond_k: 'Others score higher, and `k` ends before the document.',
  not_indexed: 'The index does not name the document: it has just changed, or the index finds approximately.',
};

export const documentExplanation = z
  .object({
    document_id: z.string(),
    found: z.boolean().describe('True if the document is in the answer.'),
    reason: z.enum(EXPLAINED_REASONS),
    detail: z.string().describe('The reason in a sentence.'),
    status: z.enum(DOCUMENT_STATUSES).describe('The status of its newest content.'),
    error: failure.nullable().describe('Why the ingest of its newest content failed.'),
    conditions: z
      .array(
        z.object({
          loc: z.array(z.union([z.string(), z.int()])).describe('The place in `filters`.'),
          condition: z
            .string()
            .describe('The condition as it was written, as JSON, at most 256 characters of it.'),
        }),
      )
      .describe('The conditions of the filter that it does not fulfil.'),
    rank: z
      .int()
      .min(1)
      .nullable()
      .describe('The place of its first result; null where it is not among 1,000.'),
    of: z
      .int()
      .min(0)
      .nullable()
      .describe(
        'The results among which it has this rank: of the answer where it is in that, else the first 1,000.',
      ),
    k: z.int(),
    min_score: z.number(),
    score: share.nullable().describe('The score of its best chunk.'),
    chunk_number: z.int().min(0).nullable().describe('The chunk of it that scores best.'),
    explanation: explanation.nullable().describe('The parts of this score.'),
  })
  .meta({
    id: 'DocumentExplanation',
    description: 'Why a document is in the answer to a search, or why not.',
  });

const MAX_CONDITION = 256;

export function viewDocumentExplanation(
  { documentId, reason, conditions, best, ...explained }: DocumentExplanation,
  { k, minScore }: { readonly k: number; readonly minScore: number },
): z.infer<typeof documentExplanation> {
  return {
    document_id: documentId,
    found: reason === 'found',
    reason,
    detail: REASONS[reason],
    ...explained,
    conditions: conditions.map(({ loc, written }) => ({
      loc: [...loc],
      condition: JSON.stringify(written).slice(0, MAX_CONDITION).toWellFormed(),
    })),
    k,
    min_score: minScore,
    score: best?.score ?? null,
    chunk_number: best?.chunkNumber ?? null,
    explanation: best?.explanation ? viewExplanation(best.explanation) : null,
  };
}
