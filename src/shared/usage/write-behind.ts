import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import type { Redis } from '../redis/client.js';
import { keys, toMember } from '../redis/keys.js';
import { BATCHES, createNumberedBatches } from '../redis/numbered-batches.js';
import { declareScript, evenWhenFull } from '../redis/script.js';
import { coalesceRuns, type CoalescedRuns } from '../tools/coalesce-runs.js';
import { createTally } from '../tools/tally.js';
import { APPEND_EVENT, MAX_WHEN_FULL, type UsageEvent } from './usage.js';

/**
 * The events of reads, which are gathered by each process and stored together a moment later, so that no read waits for a
 * write to the disk.
 */
export interface WriteBehind {
  /** Takes an event, which is stored within 100 ms. @throws UnavailableError when too many wait, since Redis takes none */
  append(event: UsageEvent): void;
  /** Resolves when the events are stored of all reads that any process answered before the call. */
  untilStored(): Promise<void>;
  /** Returns the number of events that wait. */
  waiting(): number;
  /** Stores a last time. */
  close(): Promise<void>;
}

/** Events are stored so long after the first of them came. The rest of the promise is for a late timer, and for Redis. */
const GATHER_MILLISECONDS = 25;
const STORED_WITHIN_MILLISECONDS = 100;
/** Events that one script stores, of at most 4 KB each. */
const BATCH_EVENTS = 64;
/** Events that wait in a process while Redis takes none, and the share of a single user. As many more may be held apart. */
const MAX_WAITING = 8_192;
const MAX_WAITING_OF_USER = MAX_WAITING / 4;
/** Events of a user whom Redis refuses, and the time after which it is asked again. */
const MAX_HELD_OF_USER = 256;
const HELD_MILLISECONDS = 1_000;

interface Gathered {
  readonly userId: string;
  readonly json: string;
}

export function createWriteBehind(
  redis: Redis,
  { logger }: { readonly logger: Pick<Logger, 'warn'> },
): WriteBehind {
  const queue = createQueue();
  const store = createStore(redis);
  const runs = coalesceRuns(async () => {
    // Events that come meanwhile are for the next run, or a busy process would never stop storing.
    queue.release();
    for (let left = queue.ready(); left > 0 && queue.ready() > 0;) left -= await store(queue);
  });
  const schedule = createSchedule(queue, runs, logger);
  return {
    append: (event) => {
      queue.add({ userId: event.userId, json: JSON.stringify(event) });
      schedule.storeSoon();
    },
    untilStored: async () => {
      // Nobody knows which processes there are: each of them has stored its earlier events within this time.
      await Promise.all([runs.wait(), sleep(STORED_WITHIN_MILLISECONDS)]);
    },
    waiting: queue.size,
    close: async () => {
      queue.release(Infinity);
      await schedule.storeNow();
      schedule.stop();
      if (queue.size() > 0) logger.warn({ events: queue.size() }, 'usage of reads is lost');
    },
  };
}

/** Stores events a moment after they came, and tries again for as long as some wait. */
function createSchedule(queue: Pick<Queue, 'size'>, runs: CoalescedRuns, logger: Pick<Logger, 'warn'>) {
  let timer: NodeJS.Timeout | null = null;
  let isFailing = false;
  const storeNow = async () => {
    try {
      await runs.wait();
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn({ err: error, waiting: queue.size() }, 'usage of reads cannot be stored');
      isFailing = true;
    }
    if (queue.size() > 0) storeSoon();
  };
  const storeSoon = () => {
    timer ??= setTimeout(() => {
      timer = null;
      void storeNow();
    }, GATHER_MILLISECONDS).unref();
  };
  const stop = () => {
    if (timer) clearTimeout(timer);
  };
  return { storeNow, storeSoon, stop };
}

type Queue = ReturnType<typeof createQueue>;

/** Events in their order. They count until they are stored. */
function createQueue() {
  let gathered: Gathered[] = [];
  const held = createHeld();
  const waiting = createTally();
  let size = 0;
  const count = (userId: string, by: number) => {
    waiting.add(userId, by);
    size += by;
  };
  return {
    size: () => size,
    /** Returns the number of events that can be stored now. */
    ready: () => gathered.length,
    add: (event: Gathered): void => {
      const ofUser = waiting.of(event.userId);
      const own = held.of(event.userId);
      const isFull = gathered.length >= MAX_WAITING || size >= 2 * MAX_WAITING;
      if (isFull || ofUser >= (own ? MAX_HELD_OF_USER : MAX_WAITING_OF_USER))
        throw new UnavailableError('redis');
      count(event.userId, 1);
      (own ?? gathered).push(event);
    },
    /** Lets the events be stored that were refused long enough before `now`. */
    release: (now = performance.now()): void => {
      for (const event of held.takeUntil(now)) gathered.push(event);
    },
    /** Returns the events to store next. */
    first: (): readonly Gathered[] => gathered.slice(0, BATCH_EVENTS),
    /** Removes the first events, and holds all events of the users of whom one was refused. */
    settle: (batch: readonly Gathered[], refused: ReadonlySet<number>): void => {
      for (const [place, { userId }] of batch.entries())
        if (refused.has(place)) held.begin(userId);
        else count(userId, -1);
      const left = [...batch.filter((_, place) => refused.has(place)), ...gathered.slice(batch.length)];
      gathered = left.filter(({ userId }) => !held.of(userId));
      for (const event of left) held.of(event.userId)?.push(event);
    },
  };
}

/** Events of the users whom Redis refuses, apart from all others, until they are tried again. */
function createHeld() {
  const byUser = new Map<string, { readonly events: Gathered[]; readonly until: number }>();
  return {
    of: (userId: string) => byUser.get(userId)?.events,
    begin: (userId: string): void => {
      if (!byUser.has(userId))
        byUser.set(userId, { events: [], until: performance.now() + HELD_MILLISECONDS });
    },
    /** Removes and returns the events whose time is over at `now`. */
    takeUntil: (now: number): Gathered[] => {
      const over = [...byUser].filter(([, { until }]) => until <= now);
      for (const [userId] of over) byUser.delete(userId);
      return over.flatMap(([, { events }]) => events);
    },
  };
}

/** Stores a batch with each call, and returns its size. */
function createStore(redis: Redis) {
  const batches = createNumberedBatches<readonly Gathered[]>(keys.usageBatch);
  return async (queue: Queue): Promise<number> => {
    const stored = await batches.send(queue.first, async (events, { key, number }) => {
      const refused = await storeScript.run(redis, {
        keys: {
          batch: key,
          dirty: keys.usageDirty,
          pending: events.map(({ userId }) => keys.usagePending(userId)),
        },
        args: {
          number,
          events: events.map(({ json }) => json),
          users: events.map(({ userId }) => toMember(userId)),
        },
      });
      queue.settle(events, new Set(refused === '' ? [] : refused.split(',').map(Number)));
    });
    return stored?.length ?? 0;
  };
}

/**
 * Answers with the places of events that Redis refuses because of their user: one who has too many waiting in a full Redis,
 * whose events come first, since a script that has written is refused nothing; or one whose list is broken.
 */
const storeScript = declareScript({
  keys: { batch: 'key', dirty: 'key', pending: 'keys' },
  args: { number: 'text', events: 'list', users: 'list' },
}).lua<string>(`${APPEND_EVENT}${BATCHES}
local known = answer_to_batch(batch, number)
if known then return known end
local beyond, refused = {}, {}
for i, list in ipairs(pending) do
  local waiting = redis.pcall('LLEN', list)
  beyond[i] = type(waiting) == 'number' and waiting >= ${String(MAX_WHEN_FULL)}
end
for _, turn in ipairs({ true, false }) do
  for i, list in ipairs(pending) do
    if beyond[i] == turn and not pcall(append_event, list, dirty, events[i], users[i]) then
      refused[#refused + 1] = i - 1
    end
  end
end
refused = table.concat(refused, ',')
${evenWhenFull('set', 'dirty')}
note_batch(batch, number, refused)
return refused
`);
