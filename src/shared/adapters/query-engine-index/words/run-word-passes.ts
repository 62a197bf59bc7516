import { leastOwnShare, type TermWeights } from '../../../../index/index.js';
import { slicesOf } from '../../../batches.js';
import type { CallOptions, WordSearch } from '../../../ports.js';
import { addressOf, compareAddresses } from '../../../search/candidates.js';
import { nextSlice } from '../../../tools/time-slices.js';
import type { FoundChunk } from '../chunk-reply.js';
import type { ChunkSearch } from '../chunk-search.js';
import type { WordPass } from './plan-word-passes.js';
import { ownShare, type OwnScore } from './section-scores.js';

export interface PassParts {
  readonly search: Pick<ChunkSearch, 'byTerms'>;
  /** Asks the engine in the caller's turn. */
  readonly inTurn: <Answer>(
    query: () => Promise<Answer>,
    options: CallOptions & { readonly callerId: string },
  ) => Promise<Answer>;
}

/** A chunk that the engine proposes, with its own score. */
export interface ProposedChunk extends OwnScore {
  readonly documentId: string;
}

/** The proposals of passes, the highest own score first. */
export interface Proposals {
  readonly shown: readonly ProposedChunk[];
  /** Proposals of hidden generations. */
  readonly hidden: readonly ProposedChunk[];
  /** The highest score by itself of a chunk that was left out. */
  readonly upperBound: number;
  /** True if there may be more chunks that hold the terms. */
  readonly isCutOff: boolean;
}

/** Tells whether the wanted chunks with the highest own scores are all among the proposals. */
export function isCertain({ shown, upperBound, isCutOff }: Proposals, wanted: number): boolean {
  const lowest = shown[wanted - 1]?.own ?? 0;
  return lowest > 0 ? lowest >= upperBound : upperBound === 0 && !isCutOff;
}

/** Runs passes until the wanted candidates are certain. */
export async function runWordPasses(
  { search, inTurn }: PassParts,
  request: WordSearch,
  {
    passes,
    weights,
    wanted,
  }: { readonly passes: readonly WordPass[]; readonly weights: TermWeights; readonly wanted: number },
): Promise<Proposals> {
  const least = leastOwnShare(request.minScore);
  const hidden = new Set<string>();
  let all: ProposedChunk[] = [];
  let proposals: Proposals = { shown: [], hidden: [], upperBound: 0, isCutOff: false };
  for (const { terms, limit, upperBound } of passes) {
    const found = await inTurn(() => search.byTerms({ ...request, terms, limit }), request);
    for (const generation of found.hidden) hidden.add(generation);
    all = await merge(all, await scoreThemselves(found.candidates, weights));
    const holding = all.filter(({ own }) => own > 0 && own >= least);
    proposals = {
      shown: holding.filter(({ generation }) => !hidden.has(generation)),
      hidden: holding.filter(({ generation }) => hidden.has(generation)),
      upperBound,
      isCutOff: found.candidates.length >= limit,
    };
    const lowest = proposals.shown[wanted - 1]?.own ?? 0;
    if (lowest > 0 && lowest >= upperBound) break;
  }
  return proposals;
}

/** Chunks that are handled in one go. Small searches wait for no slice, and there may be tens of thousands of chunks. */
const CHUNKS_AT_ONCE = 256;

/** Scores chunks by themselves. */
export async function scoreThemselves(
  found: readonly FoundChunk[],
  weights: TermWeights,
): Promise<ProposedChunk[]> {
  const counts = new Uint8Array(weights.terms.length);
  const scored: ProposedChunk[] = [];
  for (const some of slicesOf(found, CHUNKS_AT_ONCE)) {
    if (scored.length > 0) await nextSlice();
    for (const { documentId, generation, number, terms } of some)
      scored.push({ documentId, generation, number, terms, own: ownShare(terms, weights, counts) });
  }
  return scored;
}

/** Both lists without repetitions, best first, ties by document id and then chunk number. */
async function merge(
  first: readonly ProposedChunk[],
  second: readonly ProposedChunk[],
): Promise<ProposedChunk[]> {
  const all = new Map<string, ProposedChunk>();
  for (const some of slicesOf([...first, ...second], CHUNKS_AT_ONCE)) {
    if (all.size > 0) await nextSlice();
    for (const each of some) all.set(addressOf(each), each);
  }
  if (all.size > CHUNKS_AT_ONCE) await nextSlice();
  return [...all.values()].sort((a, b) => b.own - a.own || compareAddresses(a, b));
}
