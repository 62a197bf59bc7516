import { defineScript, type Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';

/**
 * Takes documents off the lists of running work if their records do not exist. The commit of a removal does so itself;
 * this is for records that were lost in another way, such as by hand.
 */
export async function forgetMissing(redis: Redis, ids: readonly string[]): Promise<void> {
  await Promise.all(
    ids.map((id) =>
      script.run(redis, {
        keys: [keys.document(id), keys.unfinished, keys.ingests, keys.ingestsByCaller],
        arguments: [id],
      }),
    ),
  );
}

const script = defineScript<number>(
  `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
local caller = redis.call('HGET', KEYS[3], ARGV[1])
if not caller then return 1 end
redis.call('HDEL', KEYS[3], ARGV[1])
if tonumber(redis.call('ZINCRBY', KEYS[4], -1, caller)) <= 0 then redis.call('ZREM', KEYS[4], caller) end
return 1
`,
  { evenWhenFull: true },
);
