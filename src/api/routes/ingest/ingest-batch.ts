import { z } from 'zod';
import { defineRoute, type Prefer, type Route } from '../../http/route.js';
import { parseRequest } from '../../http/validation/parse-request.js';
import type { Admit } from '../../services/ingest/admission/admission.js';
import type { IngestTexts } from '../../services/ingest/batch/ingest-texts.js';
import { isDone, type ItemOutcome } from '../../services/ingest/batch/items.js';
import { UnderWayError } from '../../../shared/idempotency/reservation.js';
import { optionalNull, optionalNullOr } from '../../http/validation/field-schemas.js';
import { itemOutcome, mayEndOtherwise, viewOutcome } from './batch-view.js';
import { contextOf } from '../context-of.js';
import { preferenceApplied } from '../document-replies.js';
import { ingestBatchExamples } from '../examples/ingest-batch.js';
import { textBody, toText } from './ingest.js';
import { onDuplicate } from './upload-fields.js';

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
    tag: 'Documents',
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
      const { receiveItems, prefer, reservation } = request;
      if (!receiveItems) throw new Error('the route takes items');
      const withDigests = reservation !== undefined;
      const about = { field: 'documents', maxItems: maxDocuments, common, item: batchText };
      const target = { ...about, parse, withDigests, stopping, whileValid: request.whileValid() };
      const { isStream, groups } = await receiveItems(target);
      const context = contextOf(request);
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
