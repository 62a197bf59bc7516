import type { Candidate, Index } from './ports.js';
import type { SoughtWords, TermStatistics } from './query-words.js';
import type { Ranker, WordCandidates } from './ranking.js';
import type { SearchRequest } from './search.js';

/** Candidates of an index, more of them each time they were too few. */
export interface Proposals {
  /** The same candidates as the index has them now. */
  ask(): Promise<Candidate[]>;
  /**
   * Looks further from now on; false when the last answer held all that could be hits.
   *
   * @param isEnough whether an answer that the index cut off is enough
   */
  widen(isEnough: boolean): boolean;
  /** What a chunk that a further look would find scores at most, as far as the last answer left out words to look for. */
  readonly missed: () => number;
}

interface ProposalParts {
  readonly index: Index;
  readonly ranker: Ranker;
  readonly request: Pick<SearchRequest, 'callerId' | 'query' | 'filter' | 'k' | 'minScore' | 'signal'>;
  /** Called when the query's vector is needed first. */
  readonly embed: () => Promise<Float32Array>;
  readonly statistics: TermStatistics | Promise<TermStatistics>;
}

/**
 * Where a ranker goes by words alone, candidates are what holds the query's words; the nearest by vector only fill up
 * what those leave open. Where it goes by both, so do candidates. Otherwise all come by vector.
 */
export function createProposals(parts: ProposalParts): Proposals {
  const { ranker, request } = parts;
  const byVector = proposeByVector(parts);
  if (!ranker.byWords) return byVector;
  const byWords = proposeByWords(parts, ranker.byWords);
  return ranker.reads.includes('similarity')
    ? both(byVector, byWords)
    : inTurn(byWords, byVector, request.minScore);
}

function proposeByVector({ index, ranker, request, embed }: ProposalParts): Proposals {
  const { callerId, filter, k, signal } = request;
  let limit = ranker.candidateCount(k);
  let count = 0;
  return {
    ask: async () => {
      const vector = await embed();
      const found = await index.search({ vector, callerId, filter, limit, reads: ranker.reads, signal });
      count = found.length;
      return found;
    },
    widen: (isEnough) => {
      if (count < limit || isEnough) return false;
      limit = widened(limit, count);
      return true;
    },
    missed: () => 0,
  };
}

interface WordProposals extends Proposals {
  /** Whether the last answer held every chunk that holds a word that was looked for. */
  isWhole(): boolean;
  /** Whether the same is true of every word that can be looked for and matters. */
  isAtEnd(): boolean;
  /** Whether these are all words of the query: of a long one only the weightiest can be. */
  areAllWords(): boolean;
}

function proposeByWords(
  { index, ranker, request, embed, statistics }: ProposalParts,
  candidates: WordCandidates,
): WordProposals {
  const { callerId, query, filter, k, minScore, signal } = request;
  const readsSimilarity = ranker.reads.includes('similarity');
  let limit = 0;
  let rounds: readonly SoughtWords[] = [];
  let round = 0;
  let isWhole = false;
  let count = 0;
  const missed = () => rounds[round]?.missed ?? 0;
  const isLastRound = () => round + 1 >= rounds.length || (!readsSimilarity && missed() <= minScore);
  return {
    ask: async () => {
      if (limit === 0) {
        const known = await statistics;
        rounds = candidates.queries(query, known).slice(index.seeksAllWords ? -1 : 0);
        limit = candidates.candidateCount(k, known);
      }
      const vector = readsSimilarity ? { vector: await embed() } : {};
      const asked = { callerId, filter, limit, signal, ...vector };
      const found = await Promise.all(
        rounds.slice(0, round + 1).map(({ words }) => index.searchWords({ ...asked, words })),
      );
      isWhole = found.every(({ length }) => length < limit);
      count = Math.max(...found.map(({ length }) => length));
      return found.reduce(merge, []);
    },
    widen: (isEnough) => {
      if (!isWhole && !isEnough) {
        limit = widened(limit, count);
        return true;
      }
      if (isLastRound()) return false;
      round += 1;
      return true;
    },
    missed,
    isWhole: () => isWhole,
    isAtEnd: () => isWhole && isLastRound(),
    areAllWords: () => rounds.at(-1)?.words.terms.length === ranker.queryTerms(query).length,
  };
}

/** Of an answer that was cut off. An index may answer with more than it was asked for, and have no more. */
function widened(limit: number, count: number): number {
  return Math.max(2 * limit, count + 1);
}

/** What the second proposes comes on top once the first has no more. */
function inTurn(byWords: WordProposals, byVector: Proposals, minScore: number): Proposals {
  let isFilling = false;
  return {
    ask: async () => {
      const [found, nearest] = await Promise.all([byWords.ask(), isFilling ? byVector.ask() : []]);
      return merge(found, nearest);
    },
    widen: (isEnough) => {
      if (isFilling) return byVector.widen(isEnough);
      if (byWords.widen(isEnough)) return true;
      // What holds none of the words scores nothing.
      isFilling = byWords.isAtEnd() && (minScore <= 0 || !byWords.areAllWords());
      return isFilling;
    },
    missed: byWords.missed,
  };
}

function both(byVector: Proposals, byWords: WordProposals): Proposals {
  return {
    ask: async () => {
      const [nearest, found] = await Promise.all([byVector.ask(), byWords.ask()]);
      // What holds no more than common words comes after all that says more: it counts where there is room.
      const hasMore = byWords.isWhole() && byWords.widen(true);
      return merge(nearest, hasMore ? await byWords.ask() : found);
    },
    widen: (isEnough) => byVector.widen(isEnough),
    missed: byVector.missed,
  };
}

function merge(first: readonly Candidate[], second: readonly Candidate[]): Candidate[] {
  if (first.length === 0 || second.length === 0) return [...first, ...second];
  const known = new Set(first.map(addressOf));
  return [...first, ...second.filter((each) => !known.has(addressOf(each)))];
}

const addressOf = ({ generation, number }: Candidate) => `${generation}:${String(number)}`;
