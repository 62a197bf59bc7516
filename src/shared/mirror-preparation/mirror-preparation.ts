import { defineScript, SERVER_TIME, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

/*
 * The exact index of each API process mirrors all vectors. Before a long generation is published, the mirrors load it, so
 * that no search has to wait for that afterwards. Nothing depends on this for its correctness: a mirror that is not known
 * here, or is late, loads the generation once it is published, and searches that may find it wait.
 */

/** A mirror that has not been heard of for this long is not waited for. Mirrors tell of themselves once a second. */
const ALIVE_MILLISECONDS = 5_000;
/** Mirrors are not waited for any longer than this. */
const PREPARATION_MILLISECONDS = 30_000;

/** The questions of a worker before it publishes. */
export interface MirrorPreparation {
  /** Begins to wait for a generation. Answers false when no mirror lives, so that there is nothing to wait for. */
  open(generation: string): Promise<boolean>;
  /** Tells whether a living mirror has not loaded the generation yet, and there is still time. */
  areLoading(generation: string): Promise<boolean>;
}

export function createMirrorPreparation(
  redis: Redis,
  milliseconds = PREPARATION_MILLISECONDS,
): MirrorPreparation {
  return {
    open: async (generation) => (await openScript.run(redis, call(generation, milliseconds))) === 1,
    areLoading: async (generation) => (await areLoadingScript.run(redis, call(generation))) === 1,
  };
}

/** Says that a mirror lives, and which generations it has loaded, or cannot load, before they are published. */
export async function tellOfMirror(
  redis: Pick<Redis, 'eval'>,
  mirror: string,
  prepared: readonly string[],
): Promise<void> {
  await tellScript.run(redis, {
    keys: [keys.mirrors, ...prepared.map(keys.preparation)],
    arguments: [String(ALIVE_MILLISECONDS), mirror],
  });
}

const call = (generation: string, ...more: readonly number[]) => ({
  keys: [keys.mirrors, keys.preparation(generation)],
  arguments: [ALIVE_MILLISECONDS, ...more].map(String),
});

/** The mirrors that live, by the server's clock. */
const LIVING = `${SERVER_TIME}
local function living()
  return redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%d', serverTime() - tonumber(ARGV[1])), '+inf')
end
`;

/** The set of mirrors that are done lives for as long as they are waited for. It begins with an empty name. */
const openScript = defineScript<number>(`${LIVING}
if #living() == 0 then return 0 end
redis.call('SADD', KEYS[2], '')
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
`);

const areLoadingScript = defineScript<number>(`${LIVING}
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
for _, mirror in ipairs(living()) do
  if redis.call('SISMEMBER', KEYS[2], mirror) == 0 then return 1 end
end
return 0
`);

const tellScript = defineScript<null>(
  `${SERVER_TIME}
local now, alive = serverTime(), tonumber(ARGV[1])
redis.call('ZADD', KEYS[1], string.format('%d', now), ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%d', now - alive))
for i = 2, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('SADD', KEYS[i], ARGV[2]) end
end
return nil
`,
  { evenWhenFull: true },
);
