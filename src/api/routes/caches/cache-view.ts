import { z } from 'zod';
import { SHARED } from '../../../shared/access/sharing.js';
import { CACHE_FAILURE_CODES, type CacheRecord } from '../../../shared/caches/cache-record.js';
import { heldTexts } from '../../../shared/caches/passages.js';
import { FINISH_REASONS } from '../../../shared/models/finish-reason.js';
import { isPlainObject } from '../../../shared/json-values.js';
import { shownConfig } from '../../services/caches/find-cache.js';
import type { CacheAnswer, CacheAnswerEnd, CacheAnswerEvent } from '../../services/caches/cache-queries.js';
import { sourcesFields, usageCounts, viewSources, viewUsage } from '../retrieval-view.js';

const config = {
  name: z.string(),
  model: z.string().describe('As it was given: a label.'),
  gguf_file: z
    .string()
    .describe('As it was given: the file of the local model that holds the cache with the engine `llama`.'),
  filters: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The filter by which an update chooses documents.'),
  collection: z.string().optional().describe('The collection by which an update chooses documents.'),
  shared: z.enum(SHARED).describe('Which documents of others it takes.'),
  doc_count: z.int().describe('How many documents the cache holds.'),
  engine: z
    .enum(['prompt', 'llama'])
    .describe(
      'The engine that holds the cache: `llama`, a local model that has read its documents; `prompt`, which sends them with each question.',
    ),
  token_count: z
    .int()
    .describe('How many tokens its documents take; 0 while it is built for the first time.'),
  state_bytes: z.int().describe('Bytes on the disk of the state that the model has after reading.'),
  status: z.enum(['building', 'ready', 'failed']),
  progress: z
    .number()
    .optional()
    .describe('The share of the build that is done, from 0 to 1, while it is built.'),
  error: z.string().optional().describe('Why the latest build failed.'),
  error_code: z
    .enum(CACHE_FAILURE_CODES)
    .optional()
    .describe(
      'The kind of that failure: `empty`, no documents were left; `too_large`, the model cannot read them; `internal`, the service failed, and the build can be asked for again.',
    ),
};
export const configuration = z.object(config).meta({
  id: 'CacheConfiguration',
  description: 'A named cache.',
});
export const created = z
  .object({ ...config, success: z.boolean() })
  .meta({ id: 'CacheCreated', description: 'The named cache that was made.' });
export const changed = z.object({ success: z.boolean(), status: z.string() }).meta({
  id: 'CacheChanged',
  description: 'Tells whether the changed cache is ready.',
});
export const existence = z.object(config).partial().extend({ exists: z.boolean() }).meta({
  id: 'CacheExistence',
  description: 'Tells whether there is a cache of this name, with the cache if there is.',
});

/** The contents of a cache before its first build has ended. */
const NOTHING_HELD = { tokenCount: 0, bytes: 0 };

/** @param progress the share of the build that is done; null where it is not known */
export function viewCache(cache: CacheRecord, progress: number | null = null): z.infer<typeof configuration> {
  const { ready, building, failure } = cache;
  const { model, ggufFile, filters, engine, shared, collection } = shownConfig(cache);
  const held = ready ?? NOTHING_HELD;
  return {
    name: cache.name,
    model,
    gguf_file: ggufFile,
    engine: engine.name,
    ...(isPlainObject(filters) ? { filters } : {}),
    ...(collection === undefined ? {} : { collection }),
    shared,
    doc_count: building ? building.documentIds.length : ready ? heldTexts(ready) : 0,
    token_count: held.tokenCount,
    state_bytes: held.bytes,
    status: building ? 'building' : ready ? 'ready' : 'failed',
    ...(building && progress !== null ? { progress } : {}),
    ...(failure ? { error: failure.message, error_code: failure.code } : {}),
  };
}

const answerEnd = {
  finish_reason: z.enum(FINISH_REASONS),
  usage: usageCounts,
  tokens_reused: z.int().describe('Tokens of the documents that the model did not have to read again.'),
  ...sourcesFields,
};

export const answer = z
  .object({ completion: z.string(), tokens_used: z.int(), ...answerEnd })
  .meta({ id: 'CacheAnswer', description: 'An answer from the documents of a cache.' });

export const answerEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('token'), text: z.string() }),
    z.object({ type: z.literal('end'), ...answerEnd }),
  ])
  .meta({
    id: 'CacheAnswerEvent',
    description: 'A piece of the text of an answer, or, as the last event, how it ended.',
  });

export function viewAnswer(found: CacheAnswer): z.infer<typeof answer> {
  const end = viewEnd(found);
  return { completion: found.completion, tokens_used: end.usage.total_tokens, ...end };
}

export function viewAnswerEvent(event: CacheAnswerEvent): z.infer<typeof answerEvent> {
  return event.type === 'token' ? event : { type: 'end', ...viewEnd(event) };
}

function viewEnd(end: CacheAnswerEnd) {
  const { finishReason: finish_reason, tokensReused: tokens_reused } = end;
  return { finish_reason, usage: viewUsage(end), tokens_reused, ...viewSources(end) };
}
