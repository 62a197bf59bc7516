import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { metadataSchema, type IngestOperation, type Metadata } from './document.js';
import { fromMember, keys, toMember } from './keys.js';
import { defineScript, type Redis } from './redis.js';

export const OPERATIONS = [
  'ingest_text',
  'ingest_file',
  'retrieve_chunks',
  'retrieve_docs',
  'query',
  'create_cache',
  'update_cache',
  'add_docs_to_cache',
  'query_cache',
] as const;
export type Operation = (typeof OPERATIONS)[number];

const usageEventSchema = z.object({
  id: z.string(),
  userId: z.string(),
  operation: z.enum(OPERATIONS),
  status: z.enum(['success', 'error']),
  tokens: z.number().int(),
  durationMs: z.number().int(),
  /** ISO 8601 UTC, when the operation ended. */
  at: z.string(),
  metadata: metadataSchema,
});
/** One finished operation; counted once, by its id. */
export type UsageEvent = z.infer<typeof usageEventSchema>;

interface Finished {
  readonly operation: Operation;
  readonly userId: string;
  readonly startedAtMs: number;
  readonly status: UsageEvent['status'];
  readonly tokens: number;
  readonly metadata: Metadata;
}

export function usageEvent(finished: Finished): UsageEvent {
  const { operation, userId, status, tokens, startedAtMs } = finished;
  const metadata = wellFormed(finished.metadata);
  const now = Date.now();
  const durationMs = Math.max(0, Math.round(now - startedAtMs));
  const at = new Date(now).toISOString();
  return { id: randomUUID(), userId, operation, status, tokens, durationMs, at, metadata };
}

/** Halves of surrogate pairs are no characters; the reader of JSON within Redis stops at them. */
function wellFormed(metadata: Metadata): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === 'string' ? Buffer.from(value).toString() : value,
    ]),
  );
}

/** The event of an ingest, written by the step that ends it. A `code` is why it did not succeed. */
export function ingestUsageEvent(
  operation: IngestOperation,
  outcome: { readonly tokens: number; readonly code?: string },
): UsageEvent {
  const { id, type, userId, startedAtMs, metadata } = operation;
  const { tokens, code } = outcome;
  const status = code === undefined ? 'success' : 'error';
  const details = code === undefined ? metadata : { ...metadata, error: code };
  return { ...usageEvent({ operation: type, userId, startedAtMs, status, tokens, metadata: details }), id };
}

export interface RecentUsage {
  readonly limit: number;
  readonly operation?: string | undefined;
  readonly status?: string | undefined;
  readonly sinceMs?: number | undefined;
}

export interface Usage {
  append(event: UsageEvent): Promise<void>;
  /** Successful operations by name, moved and pending alike. */
  stats(userId: string): Promise<Record<string, number>>;
  /** Newest first. */
  recent(userId: string, request: RecentUsage): Promise<UsageEvent[]>;
  /** Moves pending events of every user to counters and records; forgets what is over the limits. */
  aggregate(limits: { keepDays: number; keepRecords: number }): Promise<number>;
}

const PAGE = 500;

export function createUsage(redis: Redis): Usage {
  const readPending = async (userId: string) => {
    const [counters, pending, moved] = await redis
      .multi()
      .hGetAll(keys.usageCounters(userId))
      .lRange(keys.usagePending(userId), 0, -1)
      .lLen(keys.usageRecords(userId))
      .execTyped();
    return { counters, pending: pending.map(parseEvent), moved };
  };

  return {
    append: async (event) => {
      await appendScript.run(redis, {
        keys: [keys.usagePending(event.userId), keys.usageDirty],
        arguments: [JSON.stringify(event), toMember(event.userId)],
      });
    },
    stats: async (userId) => {
      const { counters, pending } = await readPending(userId);
      const counts = Object.fromEntries(Object.entries(counters).map(([name, n]) => [name, Number(n)]));
      for (const event of pending) {
        if (event.status === 'success') counts[event.operation] = (counts[event.operation] ?? 0) + 1;
      }
      return counts;
    },
    recent: async (userId, request) => {
      const { pending, moved } = await readPending(userId);
      const found: UsageEvent[] = [];
      const seen = new Set<string>();
      const take = (events: readonly UsageEvent[]) => {
        for (const event of events.toReversed()) {
          if (found.length >= request.limit) return;
          // Trimming shifts positions between pages: an event may be read twice, never shown twice.
          if (!seen.has(event.id) && isAsked(event, request)) found.push(event);
          seen.add(event.id);
        }
      };
      take(pending);
      for (let end = moved; end > 0 && found.length < request.limit; end -= PAGE) {
        const page = await redis.lRange(keys.usageRecords(userId), Math.max(0, end - PAGE), end - 1);
        take(page.map(parseEvent));
      }
      return found;
    },
    aggregate: async ({ keepDays, keepRecords }) => {
      const users = await redis.sMembers(keys.usageDirty);
      const oldest = new Date(Date.now() - keepDays * 86_400_000).toISOString();
      let moved = 0;
      for (const member of users) {
        const userId = fromMember(member);
        const scriptKeys = [
          keys.usagePending(userId),
          keys.usageCounters(userId),
          keys.usageRecords(userId),
          keys.usageDirty,
          keys.usageTotals,
        ];
        // Who asks nothing any more is not dirty again: the records leave by themselves.
        const limits = [member, oldest, String(keepRecords), String(keepDays * 86_400)];
        moved += await aggregateScript.run(redis, { keys: scriptKeys, arguments: limits });
      }
      return moved;
    },
  };
}

const parseEvent = (text: string) => usageEventSchema.parse(JSON.parse(text));

function isAsked(event: UsageEvent, { operation, status, sinceMs }: RecentUsage): boolean {
  return (
    (operation === undefined || event.operation === operation) &&
    (status === undefined || event.status === status) &&
    (sinceMs === undefined || Date.parse(event.at) >= sinceMs)
  );
}

/** Two commands in one: of a transaction, the client handles four commands and their replies. */
const appendScript = defineScript<number>(`
redis.call('RPUSH', KEYS[1], ARGV[1])
return redis.call('SADD', KEYS[2], ARGV[2])
`);

/**
 * Moves at most 1,000 pending events of one user; the user stays dirty while more wait. Everything is read before
 * anything is written: a script that fails is not undone, and comes again.
 */
const aggregateScript = defineScript<number>(`
local pending, counters, records, dirty, totals = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local user, oldest, keep = ARGV[1], ARGV[2], tonumber(ARGV[3])
local events = redis.call('LRANGE', pending, 0, 999)
local decoded = {}
for i, text in ipairs(events) do decoded[i] = cjson.decode(text) end
for i, text in ipairs(events) do
  local event = decoded[i]
  if event.status == 'success' then redis.call('HINCRBY', counters, event.operation, 1) end
  redis.call('HINCRBY', totals, event.operation .. '|' .. event.status, 1)
  redis.call('RPUSH', records, text)
end
redis.call('LTRIM', pending, #events, -1)
redis.call('LTRIM', records, -keep, -1)
while true do
  local first = redis.call('LINDEX', records, 0)
  if not first or cjson.decode(first).at >= oldest then break end
  redis.call('LPOP', records)
end
redis.call('EXPIRE', records, ARGV[4])
if redis.call('EXISTS', pending) == 0 then redis.call('SREM', dirty, user) end
return #events
`);
