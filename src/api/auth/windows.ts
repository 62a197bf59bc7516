import { defineScript, type Redis } from '../../shared/redis/client.js';

/** A count that may reach `most` within a minute that begins with its first. */
export interface Window {
  readonly key: string;
  readonly most: number;
}

/** Counts over all API processes, a minute at a time. */
export interface Windows {
  /**
   * Counts in all of them, or in none where one of them is full.
   * @returns 0 when it was counted, else the milliseconds until there is room again
   */
  take(windows: readonly Window[]): Promise<number>;
  /** Takes back what was counted. */
  giveBack(windows: readonly Window[]): Promise<void>;
}

const WINDOW_MILLISECONDS = 60_000;

export function createWindows(redis: Redis): Windows {
  const keysOf = (windows: readonly Window[]) => windows.map(({ key }) => key);
  return {
    take: (windows) =>
      takeScript.run(redis, {
        keys: keysOf(windows),
        arguments: [String(WINDOW_MILLISECONDS), ...windows.map(({ most }) => String(most))],
      }),
    giveBack: async (windows) => {
      await giveBackScript.run(redis, { keys: keysOf(windows), arguments: [] });
    },
  };
}

const takeScript = defineScript<number>(
  `
for index, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[index + 1]) then
    return math.max(1, redis.call('PTTL', key))
  end
end
for _, key in ipairs(KEYS) do
  if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[1]) end
end
return 0
`,
  { evenWhenFull: true },
);

const giveBackScript = defineScript<null>(`
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > 0 then redis.call('DECR', key) end
end
return nil
`);
