import { randomUUID } from 'node:crypto';
import { IncompatibleDataError } from '../shared/data-set/data-set.js';
import { ANALYSIS_VERSION } from '../shared/text/analysis/version.js';
import type { VectorSet } from '../shared/data-set/stored-vectors.js';
import { defineScript, type Redis } from '../shared/redis/client.js';
import { keys } from '../shared/redis/keys.js';

export interface Flip {
  readonly model: string;
  readonly vectors: VectorSet;
  /** Null while there are no vectors. */
  readonly dimensions: number | null;
  /** Index of the Query Engine that will be used; null when none is. */
  readonly index: string | null;
  /** The vectors that are in use until now. */
  readonly before: VectorSet;
  /** Sequence number of the last change that has its new vectors. */
  readonly sequence: number;
}

/**
 * Switches all searches to the new vectors atomically. Resolves with false when documents changed after `sequence`.
 * @throws IncompatibleDataError when another run has switched to other vectors in the meantime
 */
export async function flip(redis: Redis, to: Flip): Promise<boolean> {
  const done = await flipScript.run(redis, {
    keys: [keys.sequence, keys.schema, keys.epoch, keys.reindexing, keys.garbageVectors],
    arguments: [
      String(to.sequence),
      to.model,
      to.vectors.field,
      to.vectors.type,
      to.dimensions === null ? '' : String(to.dimensions),
      to.index ?? '',
      randomUUID(),
      to.before.field,
      ANALYSIS_VERSION,
    ],
  });
  if (done === OVERTAKEN)
    throw new IncompatibleDataError('another reindexing came first: run it again if need be');
  return done === 1;
}

const OVERTAKEN = -1;

const flipScript = defineScript<number>(`
local sequence, model, field, type, dimensions, index, epoch, before, analysis = unpack(ARGV)
if (redis.call('HGET', KEYS[2], 'vectorField') or 'vector') ~= before then return -1 end
if (redis.call('GET', KEYS[1]) or '0') ~= sequence then return 0 end
redis.call('HSET', KEYS[2], 'model', model, 'vectorField', field, 'vectorType', type, 'analysis', analysis)
if dimensions == '' then redis.call('HDEL', KEYS[2], 'dimensions')
else redis.call('HSET', KEYS[2], 'dimensions', dimensions) end
if index == '' then redis.call('HDEL', KEYS[2], 'index')
else redis.call('HSET', KEYS[2], 'index', index) end
redis.call('SET', KEYS[3], epoch)
redis.call('DEL', KEYS[4])
if before ~= field then redis.call('SADD', KEYS[5], before) end
redis.call('SREM', KEYS[5], field)
return 1
`);
