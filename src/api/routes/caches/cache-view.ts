import { z } from 'zod';
import type { CacheRecord } from '../../../shared/caches/cache-record.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { shownConfig } from '../../services/caches/find-cache.js';
import type { CacheAnswer } from '../../services/caches/cache-queries.js';
import { usageCounts, viewUsage } from '../retrieval-view.js';

const config = {
  name: z.string(),
  model: z.string().describe('As it was given. This version does not use it.'),
  gguf_file: z.string().describe('As it was given. This version does not use it.'),
  filters: z.record(z.string(), z.unknown()).optional().describe('What an update chooses documents by.'),
  doc_count: z.int().describe('How many documents the cache holds.'),
  engine: z.string().describe('What holds the cache and answers from it.'),
  token_count: z
    .int()
    .describe('How many tokens its documents take; 0 while it is built for the first time.'),
  status: z.enum(['building', 'ready', 'failed']),
  error: z.string().optional().describe('Why the latest build failed.'),
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
  description: 'Whether the changed cache is ready.',
});
export const existence = z.object(config).partial().extend({ exists: z.boolean() }).meta({
  id: 'CacheExistence',
  description: 'Whether there is a cache of this name, and the cache if there is.',
});

export function viewCache(cache: CacheRecord, engine: string): z.infer<typeof configuration> {
  const { ready, building, failure } = cache;
  const { model, ggufFile, filters } = shownConfig(cache);
  return {
    name: cache.name,
    model,
    gguf_file: ggufFile,
    engine,
    ...(isPlainObject(filters) ? { filters } : {}),
    doc_count: building ? building.documentIds.length : (ready?.members.length ?? 0),
    token_count: ready?.tokenCount ?? 0,
    status: building ? 'building' : ready ? 'ready' : 'failed',
    ...(failure ? { error: failure.message } : {}),
  };
}

export const answer = z
  .object({
    completion: z.string(),
    tokens_used: z.int(),
    finish_reason: z.enum(['stop', 'length']),
    usage: usageCounts,
    tokens_reused: z.int().describe('Tokens of the documents that the model did not have to read again.'),
  })
  .meta({ id: 'CacheAnswer', description: 'An answer from the documents of a cache.' });

export function viewAnswer(found: CacheAnswer): z.infer<typeof answer> {
  const usage = viewUsage(found);
  return {
    completion: found.completion,
    tokens_used: usage.total_tokens,
    finish_reason: found.finishReason,
    usage,
    tokens_reused: found.tokensReused,
  };
}
