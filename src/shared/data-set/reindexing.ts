import { z } from 'zod';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { vectorTypeSchema } from './stored-vectors.js';

const reindexingSchema = z.object({
  /** The model that the data is being embedded with. */
  model: z.string(),
  vectorField: z.string(),
  vectorType: vectorTypeSchema,
  /** All changes up to this sequence number have been looked at. */
  since: z.coerce.number().int(),
  documents: z.coerce.number().int(),
  chunks: z.coerce.number().int(),
});

/** The progress of a reindexing. Redis holds it, so that it continues after a crash and operators can see it. */
export type Reindexing = z.infer<typeof reindexingSchema>;

/** Null when no reindexing is under way. */
export async function readReindexing(redis: Redis): Promise<Reindexing | null> {
  const found = await redis.hGetAll(keys.reindexing);
  return found['model'] === undefined ? null : reindexingSchema.parse({ ...found });
}

export async function writeReindexing(redis: Redis, reindexing: Reindexing): Promise<void> {
  const fields = Object.entries(reindexing).map(([name, value]): [string, string] => [name, String(value)]);
  await redis.hSet(keys.reindexing, Object.fromEntries(fields));
}
