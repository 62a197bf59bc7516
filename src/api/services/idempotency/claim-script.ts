import { RESP_TYPES } from 'redis';
import type { Redis } from '../../../shared/redis/client.js';
import { declareScript, evenWhenFull, SERVER_TIME } from '../../../shared/redis/script.js';

/*
 * The memory of a request is a hash: `id` of the object that it creates, `run` that is at it, `until` when that run's lease
 * ends (Redis' time in ms), `fingerprint` of the request, `created` once something has the id, `answer` at the end, and
 * `hour` in whose sum of bytes it counts. Beside it, each caller has the sums of the last hours, which end together with
 * the keys that they count.
 */

/** The hours for which a key is remembered, from its first request on. `src/api/pages/describe-request.ts` and `docs/` promise them. */
const LIFE_HOURS = 24;
/** The sum of an hour counts until the last key of that hour has ended. */
const SUMMED_HOURS = LIFE_HOURS + 1;

/** The bytes that Redis needs for a key, measured without its name and its answer. */
const KEY_BYTES = 400;

export interface ClaimRequest {
  readonly run: string;
  /** The id for the object that the request creates, if it has none yet. */
  readonly id: string;
  readonly fingerprint: string | null;
  readonly lease: number;
  readonly limitBytes: number;
}

export type ClaimReply =
  | { readonly type: 'different' }
  | { readonly type: 'running' }
  /** Room comes back after this time. */
  | { readonly type: 'full'; readonly milliseconds: number }
  | { readonly type: 'answered'; readonly answer: Buffer; readonly fingerprint: string | null }
  | {
      readonly type: 'claimed';
      readonly id: string;
      readonly hasCreated: boolean;
      readonly fingerprint: string | null;
    };

export async function claimReservation(
  redis: Redis,
  { key, bytes }: { readonly key: string; readonly bytes: string },
  { run, id, fingerprint, lease, limitBytes }: ClaimRequest,
): Promise<ClaimReply> {
  // Answers are binary, and so everything is read as bytes.
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const [type, ...values] = await claimScript.run(binary, {
    keys: { memory: key, sums: bytes },
    args: {
      run,
      id,
      fingerprint,
      lease,
      limit: limitBytes,
      size: KEY_BYTES + key.length,
    },
  });
  const [first = Buffer.alloc(0), known = Buffer.alloc(0), created = Buffer.alloc(0)] = values;
  const stored = known.length === 0 ? null : known.toString();
  switch (type?.toString()) {
    case 'different':
      return { type: 'different' };
    case 'running':
      return { type: 'running' };
    case 'full':
      return { type: 'full', milliseconds: Number(first.toString()) };
    case 'answered':
      return { type: 'answered', answer: first, fingerprint: stored };
    case 'claimed': {
      const hasCreated = created.toString() === '1';
      return { type: 'claimed', id: first.toString(), hasCreated, fingerprint: stored };
    }
    default:
      throw new Error('the claim of an idempotency key has no outcome');
  }
}

const claimScript = declareScript({
  keys: { memory: 'key', sums: 'key' },
  args: {
    run: 'text',
    id: 'text',
    fingerprint: 'optional',
    lease: 'number',
    limit: 'number',
    size: 'number',
  },
}).lua<Buffer[]>(`${SERVER_TIME}
local now = serverTime()
local ends = string.format('%d', now + lease)
if redis.call('EXISTS', memory) == 1 then
  local known = redis.call('HMGET', memory, 'id', 'fingerprint', 'until', 'created', 'answer')
  if fingerprint ~= '' and known[2] and known[2] ~= fingerprint then return {'different'} end
  if known[5] then return {'answered', known[5], known[2] or ''} end
  if tonumber(known[3]) > now then return {'running'} end
  redis.call('HSET', memory, 'run', run, 'until', ends)
  return {'claimed', known[1], known[2] or '', known[4] or ''}
end
local hour = math.floor(now / 3600000)
local total, oldest, counted = 0, hour, redis.call('HGETALL', sums)
for i = 1, #counted, 2 do
  local of, bytes = tonumber(counted[i]), tonumber(counted[i + 1])
  if of <= hour - ${String(SUMMED_HOURS)} then redis.call('HDEL', sums, counted[i])
  elseif bytes > 0 then
    total = total + bytes
    if of < oldest then oldest = of end
  end
end
if total + size > limit then
  return {'full', string.format('%d', (oldest + ${String(SUMMED_HOURS)}) * 3600000 - now)}
end
redis.call('HINCRBY', sums, string.format('%d', hour), string.format('%d', size))
redis.call('PEXPIRE', sums, ${String(SUMMED_HOURS + 1)} * 3600000)
redis.call('HSET', memory, 'id', id, 'run', run, 'until', ends, 'hour', string.format('%d', hour), 'size', string.format('%d', size))
if fingerprint ~= '' then redis.call('HSET', memory, 'fingerprint', fingerprint) end
redis.call('PEXPIRE', memory, ${String(LIFE_HOURS)} * 3600000)
return {'claimed', id, '', ''}
`);

/** Extends the lease of a run that still holds the reservation. */
export const renewScript = declareScript({
  keys: { memory: 'key' },
  args: { run: 'text', lease: 'number' },
}).lua<number>(`${SERVER_TIME}
${evenWhenFull('hash', 'memory')}
if redis.call('HGET', memory, 'run') ~= run then return 0 end
redis.call('HSET', memory, 'until', string.format('%d', serverTime() + lease))
return 1
`);

/** Remembers the answer, and forgets the fields that only runs need. */
export const rememberScript = declareScript({
  keys: { memory: 'key', sums: 'key' },
  args: { run: 'text', fingerprint: 'text', answer: 'text' },
}).lua<number>(`
if redis.call('HGET', memory, 'run') ~= run then return 0 end
redis.call('HINCRBY', sums, redis.call('HGET', memory, 'hour'), #answer)
redis.call('HSET', memory, 'fingerprint', fingerprint, 'answer', answer)
return redis.call('HDEL', memory, 'id', 'run', 'until', 'created', 'hour', 'size')
`);

/** Lets the next run begin at once. Without anything created, there is nothing to remember. */
export const releaseScript = declareScript({
  keys: { memory: 'key', sums: 'key' },
  args: { run: 'text' },
}).lua<number>(`
${evenWhenFull('hash', 'memory')}
local known = redis.call('HMGET', memory, 'run', 'created', 'hour', 'size')
if known[1] ~= run then return 0 end
if known[2] then return redis.call('HSET', memory, 'until', '0') end
redis.call('HINCRBY', sums, known[3], '-' .. known[4])
return redis.call('DEL', memory)
`);
