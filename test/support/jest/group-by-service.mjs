// Orders test files that borrow services: files with the same kind of service one after another, so that one service does
// for them.
import { readFileSync } from 'node:fs';

const BORROWS = /\b(?:useService|describeOnEachSharedIndex)\(/;
/** Kinds of `test/support/shared/environments.ts` that fewer files use; what else they borrow is EVERYDAY. */
const RARE = ['EMBEDDING', 'COMPLETING', 'LIMITED', 'GUARDED'];
/** Shorter files come after them. */
const SHORT_MILLISECONDS = 10_000;

/** @param sorted tests, those that take the longest first */
export function groupByService(sorted, timeOf) {
  const kinds = new Map(sorted.map((test) => [test, kindOf(test)]));
  const of = (kind) => sorted.filter((test) => kinds.get(test) === kind);
  const others = of(null);
  const short = others.findIndex((test) => timeOf(test) < SHORT_MILLISECONDS);
  const at = short === -1 ? others.length : short;
  const borrowing = inTurns(of('EVERYDAY'), RARE.flatMap(of), timeOf);
  return [...others.slice(0, at), ...borrowing, ...others.slice(at)];
}

/** The name of the kind of service that a file borrows, of several the rarest; null: none. */
function kindOf({ path }) {
  const source = readFileSync(path, 'utf8');
  if (!BORROWS.test(source)) return null;
  return RARE.find((kind) => new RegExp(`\\b${kind}\\b`).test(source)) ?? 'EVERYDAY';
}

/** In the order in which they would begin if one worker ran the ones and another the others. */
function inTurns(ones, others, timeOf) {
  const begin = (tests) => {
    let before = 0;
    return tests.map((test) => {
      const time = before;
      before += timeOf(test);
      return { test, time };
    });
  };
  return [...begin(ones), ...begin(others)].sort((a, b) => a.time - b.time).map(({ test }) => test);
}
