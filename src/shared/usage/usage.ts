import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { addTo, at } from '../at.js';
import { metadataSchema, type IngestOperation, type Metadata } from '../document.js';
import { toWellFormed } from '../json-values.js';
import type { Redis } from '../redis/client.js';
import { keys, toMember } from '../redis/keys.js';
import { declareScript, evenWhenFull } from '../redis/script.js';
import { nextSlice } from '../tools/time-slices.js';

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
  'embed',
  'rerank',
] as const;
export type Operation = (typeof OPERATIONS)[number];

const usageEventSchema = z.object({
  id: z.string(),
  userId: z.string(),
  operation: z.enum(OPERATIONS),
  status: z.enum(['success', 'error']),
  tokens: z.number().int(),
  durationMs: z.number().int(),
  /** When the operation ended, as ISO 8601 in UTC. */
  at: z.string(),
  metadata: metadataSchema,
});
/** One finished operation, which is counted once. */
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
  const metadata = wellFormed(shortened(finished.metadata));
  const now = Date.now();
  const durationMs = Math.max(0, Math.round(now - startedAtMs));
  const at = new Date(now).toISOString();
  return { id: randomUUID(), userId, operation, status, tokens, durationMs, at, metadata };
}

/** A record keeps this many characters of a query, since thousands of records are kept for each caller. */
const MAX_QUERY_CHARACTERS = 512;

function shortened(metadata: Metadata): Metadata {
  const { query } = metadata;
  if (typeof query !== 'string') return metadata;
  let [end, count] = [0, 0];
  // The loop goes by code points, so that no pair of surrogates is cut in two.
  for (const character of query) {
    if (count === MAX_QUERY_CHARACTERS) break;
    end += character.length;
    count += 1;
  }
  return end >= query.length ? metadata : { ...metadata, query: query.slice(0, end), query_truncated: true };
}

/** Replaces halves of surrogate pairs, which are not characters. */
function wellFormed(metadata: Metadata): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === 'string' ? toWellFormed(value) : value,
    ]),
  );
}

/** Makes the event of an ingest, which the step that ends it writes. `code` says why it did not succeed. */
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
  /** Counts successful operations by name, moved and pending ones. */
  stats(userId: string): Promise<Record<string, number>>;
  /** Returns events that match, newest first. */
  recent(userId: string, request: RecentUsage): Promise<UsageEvent[]>;
}

export function createUsage(redis: Redis): Usage {
  return {
    append: async (event) => {
      await appendScript.run(redis, {
        keys: { pending: keys.usagePending(event.userId), dirty: keys.usageDirty },
        args: { event: JSON.stringify(event), user: toMember(event.userId) },
      });
    },
    stats: (userId) => countAll(redis, userId),
    recent: async (userId, request) => {
      const found: UsageEvent[] = [];
      for (let before: number | null = null; ;) {
        const { first, events } = await readUsagePage(redis, userId, before);
        for (const text of events) {
          await nextSlice();
          const event = parseUsageEvent(text);
          if (event && isAsked(event, request)) found.push(event);
          if (found.length >= request.limit) return found;
        }
        if (events.length === 0) return found;
        before = first;
      }
    },
  };
}

/** Adds waiting events, page by page, to the counts of moved ones. Starts again when the worker has overtaken the pages. */
async function countAll(redis: Redis, userId: string): Promise<Record<string, number>> {
  for (;;) {
    const start = await readUsageFromStart(redis, userId);
    const counts = new Map<string, number>();
    for (const name of OPERATIONS) {
      if (start.counters[name] !== undefined) counts.set(name, Number(start.counters[name]));
    }
    let page: WaitingUsage = start;
    for (let next = start.moved; page.moved <= next;) {
      if (page.events.length === 0) return Object.fromEntries(counts);
      for (const text of page.events) {
        await nextSlice();
        const event = parseUsageEvent(text);
        if (event?.status === 'success') addTo(counts, event.operation);
      }
      next += page.events.length;
      page = await readUsageFromStart(redis, userId, next);
    }
  }
}

/** Parses an event; null when it is not one, which the worker that moves it logs. */
export function parseUsageEvent(text: string): UsageEvent | null {
  try {
    const parsed = usageEventSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isAsked(event: UsageEvent, { operation, status, sinceMs }: RecentUsage): boolean {
  return (
    (operation === undefined || event.operation === operation) &&
    (status === undefined || event.status === status) &&
    (sinceMs === undefined || Date.parse(event.at) >= sinceMs)
  );
}

/** A full Redis accepts waiting events of a user up to this number, since reading goes on there and is counted. */
export const MAX_WHEN_FULL = 10_000;

/** A Lua function that appends a waiting event. */
export const APPEND_EVENT = `
local function append_event(pending, dirty, event, user)
  if redis.call('LLEN', pending) < ${String(MAX_WHEN_FULL)} then ${evenWhenFull('set', 'dirty')} end
  redis.call('SADD', dirty, user)
  return redis.call('RPUSH', pending, event)
end`;

/** One script for two commands. For a transaction, the client would handle four commands and their replies. */
const appendScript = declareScript({
  keys: { pending: 'key', dirty: 'key' },
  args: { event: 'text', user: 'text' },
}).lua<number>(`${APPEND_EVENT}
return append_event(pending, dirty, event, user)`);

/*
 * A user's events are in two lists: events that wait come after events that were moved to the records. Each event has a
 * number, which stays the same when it is moved. The counter `moved` is the number of the first event that waits.
 */

/** Events that one step reads or moves. There are fewer when they are large, as in data of earlier versions. */
export const USAGE_PAGE = 200;
const ENOUGH_BYTES = 2 ** 20;

/** The field of a user's counters that holds `moved`, beside those of the operations. */
export const MOVED_FIELD = 'moved';

interface UsagePage {
  /** The number of the first event. */
  readonly first: number;
  /** Newest first. */
  readonly events: readonly string[];
}

/** Reads the last events before a number, or the newest when it is null. */
async function readUsagePage(redis: Redis, userId: string, before: number | null): Promise<UsagePage> {
  const [first, events] = await pageScript.run(redis, {
    keys: {
      pending: keys.usagePending(userId),
      records: keys.usageRecords(userId),
      counters: keys.usageCounters(userId),
    },
    args: { count: USAGE_PAGE, before, enough: ENOUGH_BYTES },
  });
  return { first: Number(first), events };
}

interface WaitingUsage {
  /** The number of the first event that waits. It is higher than the wanted one when that event has been moved. */
  readonly moved: number;
  readonly events: readonly string[];
  readonly counters: Readonly<Record<string, string | undefined>>;
}

/** Reads a page of waiting events from a number on. Without a number it starts with the first, and reads the counters too. */
export async function readUsageFromStart(redis: Redis, userId: string, from?: number): Promise<WaitingUsage> {
  const [moved, events, fields] = await startScript.run(redis, {
    keys: { pending: keys.usagePending(userId), counters: keys.usageCounters(userId) },
    args: { count: USAGE_PAGE, wanted: from ?? null, enough: ENOUGH_BYTES },
  });
  const counters: Record<string, string> = {};
  for (let i = 0; i + 1 < fields.length; i += 2) counters[at(fields, i)] = at(fields, i + 1);
  return { moved: Number(moved), events, counters };
}

const pageScript = declareScript({
  keys: { pending: 'key', records: 'key', counters: 'key' },
  args: { count: 'number', before: 'optional', enough: 'number' },
}).lua<[first: string, events: string[]]>(`
local moved = tonumber(redis.call('HGET', counters, '${MOVED_FIELD}') or '0')
local oldest = moved - redis.call('LLEN', records)
local last = before == '' and moved + redis.call('LLEN', pending) or tonumber(before)
local first, end_, bytes = last, math.max(last - count, oldest), 0
local events = {}
local function take(list, from, to)
  local some = redis.call('LRANGE', list, from, to)
  for i = #some, 1, -1 do
    events[#events + 1] = some[i]
    bytes = bytes + #some[i]
  end
end
while first > end_ and bytes < enough do
  local from = math.max(first - 10, end_)
  if first > moved then take(pending, math.max(from, moved) - moved, first - 1 - moved) end
  if from < moved then take(records, from - oldest, math.min(first, moved) - 1 - oldest) end
  first = from
end
return { tostring(first), events }
`);

const startScript = declareScript({
  keys: { pending: 'key', counters: 'key' },
  args: { count: 'number', wanted: 'optional', enough: 'number' },
}).lua<[moved: string, events: string[], counters: string[]]>(`
local moved = tonumber(redis.call('HGET', counters, '${MOVED_FIELD}') or '0')
local from = wanted == '' and moved or tonumber(wanted)
local events, fields, bytes = {}, {}, 0
if wanted == '' then fields = redis.call('HGETALL', counters) end
while from >= moved and #events < count and bytes < enough do
  local at = from - moved + #events
  local some = redis.call('LRANGE', pending, at, at + math.min(10, count - #events) - 1)
  if #some == 0 then break end
  for _, event in ipairs(some) do
    events[#events + 1] = event
    bytes = bytes + #event
  end
end
return { tostring(moved), events, fields }
`);
