import { z } from 'zod';
import { SHARED } from '../access/sharing.js';
import { metadataSchema } from '../document.js';
import { MalformedRecordError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import type { Redis } from '../redis/client.js';

/**
 * The engine that holds a cache, chosen when the cache is made. Caches of earlier versions have none, and are sent as
 * prompts.
 */
const engineSchema = z.discriminatedUnion('name', [
  z.object({ name: z.literal('prompt') }),
  z.object({
    name: z.literal('llama'),
    /** File name and fingerprint. */
    model: z.string(),
    /** Address of the process that has read the texts. */
    process: z.string().default(''),
    /** Tokens of the texts, the question and the answer. */
    window: z.number(),
    /** The word that fences the texts in prompts. It stays when texts are added, so that the model need not read all again. */
    fence: z.string(),
  }),
]);
export type CacheEngineChoice = z.infer<typeof engineSchema>;

const configSchema = z.object({
  model: z.string(),
  ggufFile: z.string(),
  engine: engineSchema.default({ name: 'prompt' }),
  /** The documents of others that it takes. Caches of earlier versions take all. */
  shared: z.enum(SHARED).default('all'),
  /** The collection whose documents it takes, of those that match the filters; absent for most. */
  collection: z.string().optional(),
  /** The filters as the client sent them; null when the cache was made of listed documents alone. */
  filters: z.custom<z.infer<ReturnType<typeof z.json>>>((value) => value !== undefined),
});
export type CacheConfig = z.infer<typeof configSchema>;

const memberSchema = z.object({
  documentId: z.string(),
  generation: z.string(),
  chunkCount: z.number(),
  /** True if its chunks lack the white space at their ends; absent for most. */
  isTrimmed: z.boolean().optional(),
});
export type CacheMember = z.infer<typeof memberSchema>;

const builtSchema = z.object({
  build: z.string(),
  config: configSchema,
  members: z.array(memberSchema),
  /** Members whose texts are not in the state, since they were gone or changed when it was built anew. */
  leftOut: z.array(z.string()).default([]),
  tokenCount: z.number(),
  /** The bytes that the engine keeps on the disk. */
  bytes: z.number().default(0),
});
export type BuiltCache = z.infer<typeof builtSchema>;

const buildSchema = z.object({
  build: z.string(),
  config: configSchema,
  documentIds: z.array(z.string()),
  requestId: z.string(),
  /** Null for a build that nobody has asked for: the cache is built anew without texts that are gone. */
  operation: z
    .object({
      type: z.enum(['create_cache', 'update_cache', 'add_docs_to_cache']),
      startedAtMs: z.number(),
      metadata: metadataSchema,
    })
    .nullable(),
});
export type CacheBuild = z.infer<typeof buildSchema>;

/** The kinds of failures of builds. `internal` is our fault; the others refuse the caller's selection. */
export const CACHE_FAILURE_CODES = ['empty', 'too_large', 'internal'] as const;

const failureSchema = z.object({
  build: z.string(),
  config: configSchema,
  code: z.enum(CACHE_FAILURE_CODES),
  message: z.string(),
  /** Failures of earlier versions do not have them. */
  documentIds: z.array(z.string()).optional(),
});
export type CacheFailure = z.infer<typeof failureSchema>;

const cacheSchema = z
  .object({
    ownerId: z.string(),
    name: z.string(),
    /** The state that queries are answered from. */
    ready: builtSchema.nullable(),
    /** The build that will replace it. */
    building: buildSchema.nullable(),
    /** The reason why the newest build failed. */
    failure: failureSchema.nullable(),
    revision: z.number(),
  })
  .refine(({ ready, building, failure }) => ready ?? building ?? failure, 'a cache without a configuration');
/** A named cache. Only its owner may use it, whatever the access lists of its documents say. */
export type CacheRecord = z.infer<typeof cacheSchema>;

/** The fields of a cache's hash: the record, and its revision for the commit script. */
const FIELDS = ['json', 'revision'];

/** The values of the hash of a cache as they are stored. */
export type CacheFields = readonly (string | null)[];

export const readCacheFields = (redis: Redis, key: string): Promise<CacheFields> => redis.hmGet(key, FIELDS);

/** Null when there is no such cache. @throws MalformedRecordError */
export function parseCache(fields: CacheFields): CacheRecord | null {
  if (fields.every((field) => field === null)) return null;
  const [json, revision] = fields;
  try {
    if (json == null) throw new Error('the record has no text');
    const cache = cacheSchema.parse(JSON.parse(json));
    // With another revision the commit script would never accept a change of this record.
    if (String(cache.revision) !== revision) throw new Error('the revision is not that of the record');
    return cache;
  } catch (error) {
    throw new MalformedRecordError('the record of a cache cannot be read', { cause: error });
  }
}

/** Called with the key of the cache whose record cannot be read, and with the error. */
export type OnMalformedCache = (key: string, error: MalformedRecordError) => void;

/** Logs malformed records of caches. */
export function logMalformedCache(logger: Logger): OnMalformedCache {
  return (key, error) => {
    logger.error({ key, err: error }, 'a cache is left out: its record is malformed');
  };
}
