import { z } from 'zod';
import { DOCUMENT_STATUSES } from '../../../shared/document.js';
import { DuplicateDeletedError, DuplicateError, type ValidationItem } from '../../../shared/errors.js';
import { UnderWayError } from '../../../shared/idempotency/reservation.js';
import { describeError } from '../../http/error-handler.js';
import type { Prefer } from '../../http/request/headers.js';
import { defineRoute, type Route } from '../../http/route.js';
import { optionalNull, optionalNullOr } from '../../http/validation/field-schemas.js';
import { preferenceApplied } from '../../http/request/headers.js';
import { parseRequest } from '../../http/validation/validation-errors.js';
import type { Admit } from '../../services/ingest/admission/admission.js';
import type { IngestTexts } from '../../services/ingest/batch/ingest-texts.js';
import { isDone, type ItemOutcome } from '../../services/ingest/batch/items.js';
import { ingestBatchExamples } from '../examples/ingest.js';
import { textBody, toText } from './ingest.js';
import { onDuplicate } from './upload-fields.js';

export const itemError = z
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
const itemOutcome = z
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

const DESCRIPTION =
  'Takes many texts at once, as a list in JSON or as a stream of lines of JSON of any length, and answers with one ' +
  'outcome for each, in their order: a document, or what is wrong with the item. The others go in. Each item is stored ' +
  'as by `/ingest/text`. Answers 200 when all are done, and 202 otherwise. The header `Prefer: wait=N` waits at most N ' +
  'seconds for all of them together, and `Prefer: respond-async` does not wait.\n\nA stream (`application/x-ndjson`) is ' +
  'answered line by line while it is sent, so that the client has to read while it sends. `index` is then the number of ' +
  'the line, from 0. Blank lines are counted and not answered. The status is that of the first outcomes.\n\nWith an `Idempotency-Key`, a batch that is sent ' +
  'again makes no item twice: a list gets its first answer, unless an item of it may still end otherwise, and a stream is ' +
  'answered line by line from what is there, and goes on with what is missing.';

const batchText = textBody
  .extend({
    on_duplicate: optionalNull(onDuplicate).describe(
      'As for `/ingest/text`, also for contents of earlier items. Default: what the batch says, or else `new`.',
    ),
  })
  .meta({ id: 'BatchText', description: 'A text to ingest with others, and what is to be known of it.' });

const common = z.object({
  on_duplicate: optionalNullOr(onDuplicate, 'new').describe(
    'The way to treat texts that you have already, where they do not say it themselves.',
  ),
});

export const batchResponses = {
  200: z.array(itemOutcome),
  202: z.array(itemOutcome),
} as const;

export interface BatchRouteDependencies {
  readonly ingestTexts: IngestTexts;
  readonly admit: Admit;
  readonly maxDocuments: number;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

/** Refuses a request for whose first item there is no room. Its items are admitted one by one later. */
export const admitFirst = (admit: Admit) => async (callerId: string) => {
  const arrival = await admit(callerId);
  arrival.leave();
  return undefined;
};

export const ingestBatchRoute = ({
  ingestTexts,
  admit,
  maxDocuments,
  stopping,
}: BatchRouteDependencies): Route =>
  defineRoute({
    method: 'post',
    tag: 'Ingest',
    permission: 'write',
    path: '/ingest/batch',
    audit: 'document.ingest',
    summary: 'Ingest many texts',
    description: DESCRIPTION,
    request: { body: bodyOf(maxDocuments) },
    items: batchText,
    admit: admitFirst(admit),
    responses: batchResponses,
    examples: ingestBatchExamples,
    idempotency: {},
    handle: async (request, reply) => {
      const { receiveItems, prefer, context } = request;
      if (!receiveItems) throw new Error('the route takes items');
      const withDigests = context.reservation !== undefined;
      const about = { field: 'documents', maxItems: maxDocuments, common, item: batchText };
      const target = { ...about, parse, withDigests, stopping, whileValid: request.whileValid() };
      const { isStream, groups } = await receiveItems(target);
      if (isStream) {
        const outcomes = await readFirst(ingestTexts.ingestStream(groups, context));
        const { status, headers } = headOf(outcomes.first, prefer);
        return reply.lines(status, viewGroups(outcomes.all, request.takeIgnored), headers);
      }
      const awaited = await ingestTexts.ingestAll(groups, context);
      const { takeIgnored } = request;
      return reply.pending(awaited, (outcomes) => replyBatch(outcomes, prefer, takeIgnored));
    },
  });

/** Answers with all outcomes. @throws UnderWayError when another request with the same key has taken over meanwhile */
export function replyBatch(outcomes: readonly ItemOutcome[], prefer: Prefer, takeIgnored: TakeIgnored) {
  for (const outcome of outcomes)
    if (outcome.type === 'refused' && outcome.error instanceof UnderWayError) throw outcome.error;
  const { status, headers } = headOf(outcomes, prefer);
  const isPassing = outcomes.some(mayEndOtherwise);
  return { type: 'json', status, body: outcomes.map(viewWith(takeIgnored)), headers, isPassing } as const;
}

const parse = (value: unknown, { on_duplicate }: z.infer<typeof common>) => {
  const text = parseRequest(batchText, value, 'body');
  return toText({ ...text, on_duplicate: text.on_duplicate ?? on_duplicate });
};

const bodyOf = (maxDocuments: number) =>
  common
    .extend({
      documents: z.array(batchText).max(maxDocuments).describe('The texts, in the order of the answer.'),
    })
    .meta({ id: 'IngestBatch', description: 'Texts to ingest, and what is to be known of each.' });

/** Returns the status of an answer, and the preferences that it follows. */
function headOf(
  outcomes: readonly ItemOutcome[],
  prefer: Prefer,
): { status: 200 | 202; headers: Record<string, string> } {
  const areDone = outcomes.every(isDone);
  return { status: areDone ? 200 : 202, headers: preferenceApplied(prefer, areDone) };
}

/** Reads the first group, which decides about the status of the answer, and returns all of them. */
async function readFirst<Group>(
  groups: AsyncIterable<readonly Group[]>,
): Promise<{ first: readonly Group[]; all: AsyncIterable<readonly Group[]> }> {
  const iterator = groups[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return { first: [], all: groups };
  const all = (async function* () {
    try {
      yield first.value;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
  return { first: first.value, all };
}

type TakeIgnored = (index: number) => string[] | undefined;

const viewWith = (takeIgnored: TakeIgnored) => (outcome: ItemOutcome) =>
  viewOutcome(outcome, takeIgnored(outcome.index));

async function* viewGroups(groups: AsyncIterable<readonly ItemOutcome[]>, takeIgnored: TakeIgnored) {
  for await (const group of groups) yield group.map(viewWith(takeIgnored));
}

type ItemOutcomeView = z.infer<typeof itemOutcome>;

/** @param names the fields of the item that were ignored */
function viewOutcome(outcome: ItemOutcome, names?: string[]): ItemOutcomeView {
  const { index } = outcome;
  const told = names === undefined ? {} : { ignored: names };
  if (outcome.type === 'refused') return { index, error: viewError(outcome.error), ...told };
  const { status, documentId: document_id, failure } = outcome;
  if (!failure) return { index, status, document_id, ...told };
  const error = { loc: ['body', 'content'], msg: failure.message, type: `ingest_error.${failure.code}` };
  return { index, status, document_id, error, ...told };
}

/** Tells whether the same item may get another outcome when it is sent again: it was too early, or our fault. */
function mayEndOtherwise(outcome: ItemOutcome): boolean {
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

export function viewError(thrown: unknown): z.infer<typeof itemError> {
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
