import { z } from 'zod';
import type { Redis } from '../../../src/shared/redis/client.js';
import { createUsage, OPERATIONS, type UsageEvent } from '../../../src/shared/usage/usage.js';
import type { Arena } from '../arena.js';
import { askCalmly } from '../calm.js';
import type { Bounds } from '../ledger.js';

const ALL = 1_000_000;
const MAX_LOOKS = 100;
const stats = z.record(z.string(), z.number());

/** Checks that each operation was counted once: its success in the statistics, its end in the records. */
export async function checkUsage(arena: Arena, redis: Redis): Promise<void> {
  const all: UsageEvent[] = [];
  for (const caller of arena.callers) {
    const events = await checkCounts(arena, redis, caller);
    for (const operation of OPERATIONS) {
      const records = events.filter((event) => event.operation === operation);
      const successes = records.filter(({ status }) => status === 'success').length;
      const told = `${caller} ${operation}`;
      checkBounds(arena, `${told}: successes`, {
        count: successes,
        bounds: arena.ledger.successes(caller, operation),
      });
      checkBounds(arena, `${told}: records`, {
        count: records.length,
        bounds: arena.ledger.records(caller, operation),
      });
    }
    all.push(...events);
  }
  checkIngests(arena, all);
}

/** Checks that the statistics of a caller are the counts of the records, and that each record is there once. */
export async function checkCounts(arena: Arena, redis: Redis, caller: string): Promise<UsageEvent[]> {
  const usage = createUsage(redis);
  let events = await usage.recent(caller, { limit: ALL });
  let counted: z.infer<typeof stats> = {};
  // Documents that attackers left may be counted from one look to the next.
  for (let looks = 0, before = -1; before !== events.length && looks < MAX_LOOKS; looks += 1) {
    before = events.length;
    const answer = await askCalmly(arena, caller, { method: 'GET', path: '/usage/stats', api: 0 });
    counted = stats.parse(answer.json);
    events = await usage.recent(caller, { limit: ALL });
  }
  for (const operation of OPERATIONS) {
    const isSuccess = (event: UsageEvent) => event.operation === operation && event.status === 'success';
    const successes = events.filter(isSuccess).length;
    if ((counted[operation] ?? 0) !== successes)
      violate(
        arena,
        `${caller} ${operation}: ${String(counted[operation])} counted, ${String(successes)} recorded`,
      );
  }
  const twice = events.length - new Set(events.map(({ id }) => id)).size;
  if (twice > 0) violate(arena, `${String(twice)} records of ${caller} are there twice`);
  return events;
}

/**
 * Checks that the event of an ingest names its document, and that there is one for each version and each retry that began.
 * A repeated request begins an ingest again that failed by the fault of the service, so that such failures explain one more.
 */
function checkIngests(arena: Arena, events: readonly UsageEvent[]): void {
  const counts = new Map<string, { all: number; failures: number }>();
  for (const { operation, metadata } of events) {
    const id = metadata['document_id'];
    if (!operation.startsWith('ingest_') || typeof id !== 'string') continue;
    const count = counts.get(id) ?? { all: 0, failures: 0 };
    count.all += 1;
    if (metadata['error'] === 'internal') count.failures += 1;
    counts.set(id, count);
  }
  for (const [id, { min, max }] of arena.ledger.ingests) {
    const { all, failures } = counts.get(id) ?? { all: 0, failures: 0 };
    const bounds = { min, max: max + failures };
    checkBounds(arena, 'ingests of a document', { count: all, bounds, about: id });
  }
}

function checkBounds(
  arena: Arena,
  told: string,
  { count, bounds, about = null }: { count: number; bounds: Bounds; about?: string | null },
): void {
  if (count >= bounds.min && count <= bounds.max) return;
  violate(arena, `${told}: ${String(count)}, not ${String(bounds.min)} to ${String(bounds.max)}`, about);
}

function violate({ history }: Arena, detail: string, about: string | null = null): void {
  history.violate('each operation is counted exactly once', detail, about);
}
