import { defineScript, type Redis } from '../../../shared/redis/client.js';
import { keys, toMember } from '../../../shared/redis/keys.js';

interface RunningIngest {
  readonly id: string;
  readonly ownerId: string;
}

/**
 * Counts running ingests that an earlier version of this program started without counting them.
 * All others are counted by the commit of their record.
 */
export async function countOlderIngests(redis: Redis, running: readonly RunningIngest[]): Promise<void> {
  const counted = await Promise.all(running.map(({ id }) => redis.hExists(keys.ingests, id)));
  const missing = running.filter((_, i) => counted[i] !== 1);
  await Promise.all(
    missing.map(({ id, ownerId }) =>
      countScript.run(redis, {
        keys: [keys.document(id), keys.ingests, keys.ingestsByCaller],
        arguments: [id, toMember(ownerId)],
      }),
    ),
  );
}

const countScript = defineScript<number>(`
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= '"queued"' and status ~= '"processing"' then return 0 end
if redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZINCRBY', KEYS[3], 1, ARGV[2])
return 1
`);
