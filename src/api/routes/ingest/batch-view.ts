import { z } from 'zod';
import { DOCUMENT_STATUSES } from '../../../shared/document.js';
import { DuplicateDeletedError, DuplicateError, type ValidationItem } from '../../../shared/errors.js';
import { UnderWayError } from '../../../shared/idempotency/reservation.js';
import { describeError } from '../../http/error-handler.js';
import type { ItemOutcome } from '../../services/ingest/batch/items.js';

const itemError = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .describe('The place in the item, as in a request of its own.'),
    msg: z.string(),
    type: z
      .string()
      .describe('The kind of mistake. Where it begins with `try_later`, the same item can be sent again.'),
    ctx: z.object({ limit_value: z.number() }).optional().describe('The limit that the item exceeds.'),
    document_id: z.uuid().optional().describe('The document that has the content already.'),
    retry_after: z.int().optional().describe('After how many seconds it makes sense to send the item again.'),
  })
  .meta({ id: 'ItemError', description: 'Why an item did not become a document, or was not ingested.' });

const ignored = z
  .array(z.string())
  .optional()
  .describe('Names of fields of the item that are not known and were ignored; absent where there are none.');

/** The outcome of one item. */
export const itemOutcome = z
  .union([
    z.object({
      index: z.int().min(0).describe('The place of the item, from 0. In a stream this is the line.'),
      status: z.enum(DOCUMENT_STATUSES),
      document_id: z.uuid(),
      error: itemError.optional(),
      ignored,
    }),
    z.object({ index: z.int().min(0), error: itemError, ignored }),
  ])
  .meta({
    id: 'ItemOutcome',
    description:
      'The outcome of one item: a document and its status, or an error, or both where the document cannot be read.',
  });
type ItemOutcomeView = z.infer<typeof itemOutcome>;

/** @param names the fields of the item that were ignored */
export function viewOutcome(outcome: ItemOutcome, names?: string[]): ItemOutcomeView {
  const { index } = outcome;
  const told = names === undefined ? {} : { ignored: names };
  if (outcome.type === 'refused') return { index, error: viewError(outcome.error), ...told };
  const { status, documentId: document_id, failure } = outcome;
  if (!failure) return { index, status, document_id, ...told };
  const error = { loc: ['body', 'content'], msg: failure.message, type: `ingest_error.${failure.code}` };
  return { index, status, document_id, error, ...told };
}

/** Tells whether the same item may get another outcome when it is sent again: it was too early, or our fault. */
export function mayEndOtherwise(outcome: ItemOutcome): boolean {
  if (outcome.type === 'document')
    return outcome.failure?.code === 'provider' || outcome.failure?.code === 'internal';
  if (outcome.error instanceof DuplicateDeletedError) return true;
  const { status } = describeError(outcome.error);
  return status === 429 || status >= 500;
}

/** Kinds of errors for which a request of its own would get a status and a sentence. */
const TYPES: Readonly<Record<number, string>> = {
  401: 'auth_error.token_expired',
  413: 'value_error.too_large',
  415: 'value_error.unsupported_type',
  429: 'try_later.too_many',
  500: 'internal_error',
  503: 'try_later.unavailable',
  507: 'value_error.over_quota',
};

function viewError(thrown: unknown): z.infer<typeof itemError> {
  const { status, detail, headers } = describeError(thrown);
  const [first] = typeof detail === 'string' ? [] : detail;
  if (first) return viewItem(first);
  const msg = typeof detail === 'string' ? detail : 'The item is not valid';
  const seconds = headers['Retry-After'];
  return {
    loc: ['body'],
    msg,
    type: conflictOf(thrown) ?? TYPES[status] ?? 'value_error',
    ...(thrown instanceof DuplicateError && { document_id: thrown.documentId }),
    ...(seconds !== undefined && { retry_after: Number(seconds) }),
  };
}

/** Returns the kind of a 409, which has several. */
function conflictOf(thrown: unknown): string | null {
  if (thrown instanceof DuplicateError) return 'value_error.duplicate';
  if (thrown instanceof DuplicateDeletedError) return 'try_later.deleted';
  return thrown instanceof UnderWayError ? 'try_later.under_way' : null;
}

function viewItem({ loc, msg, type, ctx }: ValidationItem): z.infer<typeof itemError> {
  return { loc: [...loc], msg, type, ...(ctx ? { ctx: { limit_value: ctx.limit_value } } : {}) };
}
