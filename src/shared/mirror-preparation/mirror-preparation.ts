import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript, evenWhenFull, SERVER_TIME } from '../redis/script.js';

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
    open: async (generation) => {
      const call = { keys: keysOf(generation), args: { alive: ALIVE_MILLISECONDS, life: milliseconds } };
      return (await openScript.run(redis, call)) === 1;
    },
    areLoading: async (generation) => {
      const call = { keys: keysOf(generation), args: { alive: ALIVE_MILLISECONDS } };
      return (await areLoadingScript.run(redis, call)) === 1;
    },
  };
}

/** Says that a mirror lives, and which generations it has loaded, or cannot load, before they are published. */
export async function tellOfMirror(
  redis: Pick<Redis, 'eval'>,
  mirror: string,
  prepared: readonly string[],
): Promise<void> {
  await tellScript.run(redis, {
    keys: { mirrors: keys.mirrors, prepared: prepared.map(keys.preparation) },
    args: { alive: ALIVE_MILLISECONDS, mirror },
  });
}

const keysOf = (generation: string) => ({
  mirrors: keys.mirrors,
  preparation: keys.preparation(generation),
});

/** The mirrors that live, by the server's clock. */
const LIVING = `${SERVER_TIME}
local function living()
  return redis.call('ZRANGEBYSCORE', mirrors, string.format('%d', serverTime() - alive), '+inf')
end
`;

/** The set of mirrors that are done lives for as long as they are waited for. It begins with an empty name. */
const openScript = declareScript({
  keys: { mirrors: 'key', preparation: 'key' },
  args: { alive: 'number', life: 'text' },
}).lua<number>(`${LIVING}
if #living() == 0 then return 0 end
redis.call('SADD', preparation, '')
redis.call('PEXPIRE', preparation, life)
return 1
`);

const areLoadingScript = declareScript({
  keys: { mirrors: 'key', preparation: 'key' },
  args: { alive: 'number' },
}).lua<number>(`${LIVING}
if redis.call('EXISTS', preparation) == 0 then return 0 end
for _, mirror in ipairs(living()) do
  if redis.call('SISMEMBER', preparation, mirror) == 0 then return 1 end
end
return 0
`);

const tellScript = declareScript({
  keys: { mirrors: 'key', prepared: 'keys' },
  args: { alive: 'number', mirror: 'text' },
}).lua<null>(`${SERVER_TIME}
${evenWhenFull('sortedSet', 'mirrors')}
local now = serverTime()
redis.call('ZADD', mirrors, string.format('%d', now), mirror)
redis.call('ZREMRANGEBYSCORE', mirrors, '-inf', string.format('(%d', now - alive))
for _, preparation in ipairs(prepared) do
  if redis.call('EXISTS', preparation) == 1 then redis.call('SADD', preparation, mirror) end
end
return nil
`);
