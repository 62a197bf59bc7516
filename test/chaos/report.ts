import type { Arena } from './arena.js';
import type { HistoryEntry, Violation } from './history.js';

/**
 * Describes the first violation of each promise, with everything that happened to the document or cache that it is about,
 * and the others by number.
 */
export function describeViolations(arena: Arena): string {
  const { violations } = arena.history;
  const [first] = violations;
  if (!first) return 'every promise was kept';
  const promises = new Set(violations.map(({ promise }) => promise));
  const byPromise = [...promises].map(
    (promise) => [promise, violations.filter((each) => each.promise === promise)] as const,
  );
  const others = byPromise.map(([promise, all]) => `  ${String(all.length)} × ${promise}: ${lineOf(all)}`);
  return [
    ...byPromise.flatMap(([, [earliest]]) => (earliest ? describe(arena, earliest) : [])),
    `all broken promises:`,
    ...others,
  ].join('\n');
}

const describe = (arena: Arena, violation: Violation): string[] => [
  `BROKEN: ${violation.promise}`,
  `  ${violation.detail}`,
  `  at ${String(violation.at)} ms, about ${violation.about ?? 'everything'}`,
  ...historyOf(arena, violation),
];

const lineOf = ([first]: readonly Violation[]): string =>
  `${first?.about ?? ''} ${first?.detail ?? ''}`.slice(0, 400);

/** The most lines of a history, of which the latest are shown. */
const MAX_LINES = 400;

/** Returns what happened to its document or cache, and the faults of that time; without one, those of five seconds. */
function historyOf({ history, world }: Arena, { about, at }: Violation): string[] {
  const document = about === null ? undefined : world.documents.get(about);
  const names = new Set([about, ...(document?.contents.writes.map(({ value }) => value.marker) ?? [])]);
  const own = history.entries.filter((entry) => entry.about !== null && names.has(entry.about));
  const since = own[0]?.at ?? at - 5_000;
  const isOfThatTime = (entry: HistoryEntry) =>
    entry.about === null && !isTalk(entry.what) && entry.at >= since && entry.at <= at;
  return history.entries
    .filter((entry) => own.includes(entry) || isOfThatTime(entry))
    .slice(-MAX_LINES)
    .map((entry) => `  ${String(entry.at).padStart(7)} ${entry.what}`);
}

/** Lists the outcomes of each kind of request, the most frequent first: a description of the run. */
export function describeTalk({ history }: Arena): string {
  const counts = new Map<string, number>();
  for (const { what } of history.entries) {
    const [, doing, status] = /^\w+ (\w+).* by api \d \(from \d+\): (\w+)/.exec(what) ?? [];
    if (doing === undefined || status === undefined) continue;
    const name = `${doing} ${status}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, some], [, other]) => other - some);
  return sorted.map(([name, count]) => `${name} ×${String(count)}`).join(', ');
}

const isTalk = (what: string) => / by api \d/.test(what);

/** Returns the number of postponed requests, by the words of the answers without their numbers. */
export function refusalsOf({ history }: Arena): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { what } of history.entries) {
    const reason = / by api \d \(from \d+\): 50[37] \{"detail":"(.*?)"/.exec(what)?.[1];
    if (reason === undefined) continue;
    const name = reason.replaceAll(/\d+/g, 'N');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
