import { at } from '../at.js';
import type { Pass } from './plan-passes.js';

/** The state of a search. */
export type Progress =
  | {
      readonly step: 'find';
      /** The passes to run now. A limit that was too low has been raised. */
      readonly passes: readonly Pass[];
      /** The passes to add, one after the other, while the page is not good enough. */
      readonly later: readonly Pass[];
      /** How often documents were published under the search, so that it began again. */
      readonly restarts: number;
    }
  | { readonly step: 'done' };

type Finding = Extract<Progress, { step: 'find' }>;

/** What the candidates of the passes amount to. */
export type Page =
  /** A document serves a generation that the index did not know yet, so that neither its old nor its new hits are there. */
  | { readonly kind: 'overtaken' }
  /** There are `k` hits, and `lowestScore` is that of the last. */
  | { readonly kind: 'full'; readonly lowestScore: number }
  /** There are fewer. `isCrowded` when candidates that are no hits, or more chunks of a document, took the places of others. */
  | { readonly kind: 'open'; readonly isCrowded: boolean };

/** A search begins again this often at most. */
const MAX_RESTARTS = 3;

export function begin([first, ...later]: readonly Pass[]): Progress {
  return first ? { step: 'find', passes: [first], later, restarts: 0 } : { step: 'done' };
}

/** Whether the search may begin again, so that it is worth knowing whether it has to. */
export function mayRestart({ restarts }: Finding): boolean {
  return restarts < MAX_RESTARTS;
}

/** Decides by the page what to do next. @param counts how many candidates each pass found */
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
  // Chunks beyond the limit of a pass score no more than those it found, and more than chunks that hold none of the terms.
  if (!next || (next.kind === 'nearest' && isCutOff(passes, counts))) return { step: 'done' };
  return { step: 'find', passes: [...passes, next], later: rest, restarts };
}

function isCutOff(passes: readonly Pass[], counts: readonly number[]): boolean {
  return passes.some(({ limit }, i) => at(counts, i) >= limit);
}

/** Raises the limit of a pass that was cut off. An index may return more than it was asked for and still have no more. */
function widen(pass: Pass, count: number): Pass {
  return count < pass.limit ? pass : { ...pass, limit: Math.max(2 * pass.limit, count + 1) };
}
