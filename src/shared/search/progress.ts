import { at } from '../at.js';
import type { Pass } from './passes.js';

/** Where a search stands. */
export type Progress =
  | {
      readonly step: 'find';
      /** To run now. A limit that was too low has been raised. */
      readonly passes: readonly Pass[];
      /** To run as well, one after the other, when the page is not good enough. */
      readonly later: readonly Pass[];
      /** How often documents were published anew under the search. */
      readonly restarts: number;
    }
  | { readonly step: 'done' };

type Finding = Extract<Progress, { step: 'find' }>;

/** What the candidates of the passes came to. */
export type Page =
  /** A document is served by what the index did not know yet: it has neither its old hits nor its new ones. */
  | { readonly kind: 'overtaken' }
  /** There are `k` hits, of which the last has the lowest score. */
  | { readonly kind: 'full'; readonly lowestScore: number }
  /** `isCrowded`: candidates that are no hits, or further chunks of a document, took the places of others. */
  | { readonly kind: 'open'; readonly isCrowded: boolean };

/** Searches that were begun again because of documents published anew under them. */
const MAX_RESTARTS = 3;

export function begin([first, ...later]: readonly Pass[]): Progress {
  return first ? { step: 'find', passes: [first], later, restarts: 0 } : { step: 'done' };
}

/** Whether the search may begin again, so that it is worth knowing whether it was overtaken. */
export function mayRestart({ restarts }: Finding): boolean {
  return restarts < MAX_RESTARTS;
}

/** Decides from a page what to do next. @param counts how many candidates each pass found */
export function advance(finding: Finding, page: Page, counts: readonly number[]): Progress {
  const { passes, restarts } = finding;
  switch (page.kind) {
    case 'overtaken':
      return { ...finding, restarts: restarts + 1 };
    case 'full':
      return page.lowestScore >= at(passes, passes.length - 1).upperBound
        ? { step: 'done' }
        : runNext(finding, counts);
    case 'open':
      return page.isCrowded && isCutOff(passes, counts)
        ? { ...finding, passes: passes.map((pass, i) => widen(pass, at(counts, i))) }
        : runNext(finding, counts);
  }
}

function runNext({ passes, later, restarts }: Finding, counts: readonly number[]): Progress {
  const [next, ...rest] = later;
  // What a pass left out at its limit scores no more than what it found, and comes before what holds none of the terms.
  if (!next || (next.kind === 'nearest' && isCutOff(passes, counts))) return { step: 'done' };
  return { step: 'find', passes: [...passes, next], later: rest, restarts };
}

function isCutOff(passes: readonly Pass[], counts: readonly number[]): boolean {
  return passes.some(({ limit }, i) => at(counts, i) >= limit);
}

/** Raises the limit of a pass that was cut off. An index may answer with more than it was asked for, and have no more. */
function widen(pass: Pass, count: number): Pass {
  return count < pass.limit ? pass : { ...pass, limit: Math.max(2 * pass.limit, count + 1) };
}
