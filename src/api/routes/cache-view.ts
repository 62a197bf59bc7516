import { z } from 'zod';
import type { CacheRecord } from '../../shared/caches/caches.js';
import type { Json } from '../../shared/document.js';
import { shownConfig } from '../services/caches/find-cache.js';
import type { CacheAnswer } from '../services/caches/cache-queries.js';
import { usageCounts, viewUsage } from './retrieval-view.js';

const config = {
  name: z.string(),
  model: z.string(),
  gguf_file: z.string(),
  filters: z.record(z.string(), z.unknown()).optional(),
  doc_count: z.int(),
  engine: z.string(),
  token_count: z.int(),
  status: z.enum(['building', 'ready', 'failed']),
  error: z.string().optional(),
};
export const configuration = z.object(config).meta({ id: 'CacheConfiguration' });
export const created = z.object({ ...config, success: z.boolean() }).meta({ id: 'CacheCreated' });
export const changed = z.object({ success: z.boolean(), status: z.string() }).meta({ id: 'CacheChanged' });
export const existence = z
  .object(config)
  .partial()
  .extend({ exists: z.boolean() })
  .meta({ id: 'CacheExistence' });

export function viewCache(cache: CacheRecord, engine: string): z.infer<typeof configuration> {
  const { ready, building, failure } = cache;
  const { model, ggufFile, filters } = shownConfig(cache);
  return {
    name: cache.name,
    model,
    gguf_file: ggufFile,
    engine,
    ...(isObject(filters) ? { filters } : {}),
    doc_count: building ? building.documentIds.length : (ready?.members.length ?? 0),
    token_count: ready?.tokenCount ?? 0,
    status: building ? 'building' : ready ? 'ready' : 'failed',
    ...(failure ? { error: failure.message } : {}),
  };
}

const isObject = (json: Json): json is Record<string, Json> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

export const answer = z
  .object({
    completion: z.string(),
    tokens_used: z.int(),
    finish_reason: z.enum(['stop', 'length']),
    usage: usageCounts,
    tokens_reused: z.int(),
  })
  .meta({ id: 'CacheAnswer' });

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
