import type { Arena } from './arena.js';

type Judged = Pick<Arena, 'ledger' | 'troubles'>;

/** A process may not have stored the answers of this time yet. A tenth is promised; the machine is busy here. */
const UNSTORED_MS = 1_000;
/** An answer may be noted so long after the process that gave it has ended. */
const LATE_MS = 500;

/**
 * Expects no count of the last answers of a process that was killed. While Redis is away, earlier answers wait, too, and a
 * process that is asked to stop cannot store them either; at any other time, it stores all.
 */
export function loseReads(
  { ledger, troubles }: Judged,
  api: string,
  { isKilled }: { readonly isKilled: boolean },
): void {
  const endedAt = performance.now();
  const away = troubles.since(['redis'], endedAt);
  if (!isKilled && away.length === 0) return;
  const from = Math.min(endedAt, ...away.map((each) => each.from)) - UNSTORED_MS;
  setTimeout(() => {
    ledger.lose(api, { from, to: endedAt + LATE_MS });
  }, LATE_MS);
}

/** Returns the number of answers of an operation that may not be counted yet for somebody who asks at `askedAt`. */
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
