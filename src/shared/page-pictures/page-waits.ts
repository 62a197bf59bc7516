import { randomUUID } from 'node:crypto';
import { TooManyError, TryLaterError } from '../errors.js';
import type { Redis } from '../redis/client.js';
import { keys, toMember } from '../redis/keys.js';
import { declareScript, SERVER_TIME } from '../redis/script.js';

/** The maximum numbers of requests that wait for a page to be rendered, of all callers and of one. */
export interface PageWaitLimits {
  readonly all: number;
  readonly perCaller: number;
}

export const MAX_PAGE_WAITS = 64;
const LIMITS: PageWaitLimits = { all: MAX_PAGE_WAITS, perCaller: 8 };

export type PageWaits = ReturnType<typeof createPageWaits>;

/**
 * The requests that wait for a page to be rendered, of all API processes. They are few, and one whose process has died is gone
 * when its time is over. A worker renders nothing for a request that no longer waits.
 */
export function createPageWaits(redis: Redis, { all, perCaller }: PageWaitLimits = LIMITS) {
  return {
    /**
     * Begins a wait of this many milliseconds at most. @returns its id
     * @throws TooManyError, TryLaterError
     */
    enter: async (callerId: string, milliseconds: number): Promise<string> => {
      const id = randomUUID();
      const entered = await enterScript.run(redis, {
        keys: { waits: keys.pageWaits },
        args: { member: memberOf(callerId, id), life: milliseconds, maxAll: all, maxOwn: perCaller },
      });
      if (entered === OWN_ARE_MANY)
        throw new TooManyError('Too many of your pages wait to be rendered', { retryAfterSeconds: 2 });
      if (entered === ALL_ARE_MANY)
        throw new TryLaterError('Too many pages wait to be rendered', { retryAfterSeconds: 5 });
      return id;
    },
    leave: async (callerId: string, id: string): Promise<void> => {
      await redis.zRem(keys.pageWaits, memberOf(callerId, id));
    },
    /** Tells whether the request with this id still waits. */
    isWaiting: async (callerId: string, id: string): Promise<boolean> => {
      const call = { keys: { waits: keys.pageWaits }, args: { member: memberOf(callerId, id) } };
      return (await lookScript.run(redis, call)) === 1;
    },
  };
}

/** Ids are equally long, so that the rest is the caller. */
const memberOf = (callerId: string, id: string): string => `${id} ${toMember(callerId)}`;

const OWN_ARE_MANY = 1;
const ALL_ARE_MANY = 2;

const enterScript = declareScript({
  keys: { waits: 'key' },
  args: { member: 'text', life: 'number', maxAll: 'number', maxOwn: 'number' },
}).lua<number>(`${SERVER_TIME}
local now = serverTime()
redis.call('ZREMRANGEBYSCORE', waits, '-inf', string.format('%d', now))
local members = redis.call('ZRANGE', waits, 0, -1)
local caller, own = string.sub(member, 38), 0
for _, other in ipairs(members) do
  if string.sub(other, 38) == caller then own = own + 1 end
end
if own >= maxOwn then return ${String(OWN_ARE_MANY)} end
if #members >= maxAll then return ${String(ALL_ARE_MANY)} end
redis.call('ZADD', waits, string.format('%d', now + life), member)
redis.call('PEXPIRE', waits, 2 * life)
return 0
`);

const lookScript = declareScript({ keys: { waits: 'key' }, args: { member: 'text' } })
  .lua<number>(`${SERVER_TIME}
local ends = redis.call('ZSCORE', waits, member)
if ends and tonumber(ends) > serverTime() then return 1 end
return 0
`);
