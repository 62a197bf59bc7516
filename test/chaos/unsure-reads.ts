import type { Arena } from './arena.js';

type Judged = Pick<Arena, 'ledger' | 'troubles'>;

/** A process may not have stored yet what it answered within this time. A tenth is promised; the machine is busy here. */
const UNSTORED_MS = 1_000;
/** An answer may be noted so long after the process that gave it has ended. */
const LATE_MS = 500;

/** Expects no count of what a process that has ended answered at last. While Redis is away, what was answered before waits, too. */
export function loseReads({ ledger, troubles }: Judged, api: string): void {
  const endedAt = performance.now();
  const from =
    Math.min(endedAt, ...troubles.since(['redis'], endedAt).map((each) => each.from)) - UNSTORED_MS;
  setTimeout(() => {
    ledger.lose(api, { from, to: endedAt + LATE_MS });
  }, LATE_MS);
}

/** How many answers of an operation may not be counted yet for somebody who asks at `askedAt`. */
export function unsureReads(
  { ledger, troubles }: Judged,
  {
    caller,
    operation,
    askedAt,
  }: { readonly caller: string; readonly operation: string; readonly askedAt: number },
): number {
  const isUnsure = (api: string, at: number) =>
    troubles
      .since(['redis', api], askedAt)
      .some(({ from, to }) => at >= from - UNSTORED_MS && at <= to + UNSTORED_MS);
  return ledger
    .reads()
    .filter((read) => read.caller === caller && read.operation === operation && isUnsure(read.api, read.at))
    .length;
}
