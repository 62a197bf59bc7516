import type { Candidate, Index } from '../ports.js';
import type { Pass } from './plan-passes.js';
import type { Ranker } from './ranking.js';
import type { SearchRequest } from './request.js';

/** What one pass found, without repetitions. */
interface PassAnswer {
  readonly candidates: readonly Candidate[];
  /** How many of them the pass's limit counts. */
  readonly count: number;
}

/** What several passes found together. */
export interface Found {
  readonly candidates: readonly Candidate[];
  /** How many each pass found, in the order of the passes. */
  readonly counts: readonly number[];
}

/** Runs passes at the same time, so that what they find is of one moment. */
export type FindCandidates = (passes: readonly Pass[]) => Promise<Found>;

interface PassContext {
  readonly index: Pick<Index, 'search' | 'searchTerms'>;
  readonly ranker: Pick<Ranker, 'reads'>;
  readonly request: Pick<SearchRequest, 'callerId' | 'filter' | 'signal'>;
  /** Makes the vector of the query when a pass first needs it. */
  readonly embed: () => Promise<Float32Array>;
}

export function createFindCandidates(context: PassContext): FindCandidates {
  return async (passes) => {
    const answers = await Promise.all(passes.map((pass) => runPass(context, pass)));
    return {
      candidates: answers.map(({ candidates }) => candidates).reduce(merge, []),
      counts: answers.map(({ count }) => count),
    };
  };
}

async function runPass(context: PassContext, pass: Pass): Promise<PassAnswer> {
  switch (pass.kind) {
    case 'nearest':
      return counted(await findNearest(context, pass));
    case 'terms': {
      const { callerId, filter, signal } = context.request;
      const { terms: query, limit } = pass;
      return counted(await context.index.searchTerms({ query, callerId, filter, limit, signal }));
    }
    case 'hybrid': {
      const [nearest, holding] = await Promise.all([findNearest(context, pass), findHolding(context, pass)]);
      return { candidates: merge(nearest, holding), count: nearest.length };
    }
  }
}

async function findNearest(
  { index, ranker, request, embed }: PassContext,
  { limit }: Pass,
): Promise<Candidate[]> {
  const { callerId, filter, signal } = request;
  return index.search({ vector: await embed(), callerId, filter, limit, reads: ranker.reads, signal });
}

/** Finds chunks that hold terms of a hybrid pass, with their similarities. */
async function findHolding(
  { index, request, embed }: PassContext,
  { terms, termsLimit }: Extract<Pass, { kind: 'hybrid' }>,
): Promise<readonly Candidate[]> {
  const { callerId, filter, signal } = request;
  const vector = await embed();
  let found: readonly Candidate[] = [];
  for (const query of terms) {
    const more = await index.searchTerms({ query, vector, callerId, filter, limit: termsLimit, signal });
    found = merge(found, more);
    if (more.length >= termsLimit) break;
  }
  return found;
}

function counted(candidates: readonly Candidate[]): PassAnswer {
  return { candidates, count: candidates.length };
}

function merge(first: readonly Candidate[], second: readonly Candidate[]): readonly Candidate[] {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  const known = new Set(first.map(addressOf));
  return [...first, ...second.filter((each) => !known.has(addressOf(each)))];
}

function addressOf({ generation, number }: Candidate): string {
  return `${generation}:${String(number)}`;
}
