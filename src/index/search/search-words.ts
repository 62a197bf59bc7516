import { noStatistics, type TermStatistics, type TermWeights, type WordQuery } from '../scoring/terms.js';
import { FURTHER_LOOK, leastOwnShare } from '../scoring/score.js';
import type { AppTypes } from '../tables/app.js';
import type { IndexedDocument } from '../tables/document-table.js';
import { fewSlots, type Mask } from '../masks/working-mask.js';
import type { CompareSlots } from '../vectors/knn-collector.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { Partition, Partitions } from '../tables/partitions.js';
import type { ScoredSlots } from './packed-candidates.js';
import { createLikelyChunks, createTopChunks, type TopChunks } from './top-chunks.js';
import { spareOf } from '../postings/score-segment.js';
import type { SlotPositions } from '../postings/shard/slot-positions.js';
import { createSectionScores, type SectionScores } from './section-scores.js';

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links' | 'terms' | 'tieOf'>;
  /** By document slot. */
  readonly documents: readonly (Pick<IndexedDocument, 'firstChunk'> | undefined)[];
  readonly partitions: Pick<Partitions<AppTypes>, 'of' | 'readableBy'>;
  readonly positions: Pick<SlotPositions, 'segmentOf' | 'positionOf'>;
  /** Orders chunks of equal score. */
  readonly compare: CompareSlots;
}

export interface WordsQuery {
  readonly principal: AppTypes['principal'];
  readonly query: WordQuery;
}

export interface WordsRequest extends WordsQuery {
  readonly minScore: number;
  readonly limit: number;
  /** The search looks at more chunks while fewer than this many reach the least score. */
  readonly enough: number;
  /** Null when everything in the caller's partitions may be found. */
  readonly mask: Mask | null;
}

/**
 * Finds the chunks that score highest by themselves by the words of the query, and orders them by the score that counts their
 * sections, too; it is at least `minScore`, and where it is so for fewer than `enough`, more chunks are looked at. With a
 * `minScore` of 0, chunks that hold none of the words follow while there is room, by document id and number.
 */
export function searchWords(tables: Tables, request: WordsRequest): ScoredSlots {
  const readable = tables.partitions.readableBy(request.principal).map(({ partition }) => partition);
  const query = weigh(tables, request);
  const among: Among = {
    readable,
    available: readable.reduce((sum, { shard }) => sum + shard.chunks, 0),
    query,
    scores: createSectionScores(tables, query),
    isAllowed: createIsAllowed(tables, request.mask),
  };
  const top = findBest(tables, request, among);
  if (request.minScore <= 0 && top.threshold === -Infinity) fillUp(tables, { ...among, top });
  return top.take();
}

/** The partitions that are searched, and the way in which their chunks score. */
interface Among {
  readonly readable: readonly Partition[];
  /** The number of chunks in them. */
  readonly available: number;
  readonly query: TermWeights;
  readonly scores: SectionScores;
  readonly isAllowed: (slot: number) => boolean;
}

/** Orders the chunks that score highest by themselves by the score that counts their sections, too. */
function findBest(tables: Tables, request: WordsRequest, among: Among): TopChunks {
  const { limit, enough, minScore } = request;
  const { withSection } = among.scores;
  const orderedOf = (ranked: TopChunks): TopChunks => {
    const top = createTopChunks(Math.min(limit, among.available), tables.compare);
    ranked.each((slot, own) => {
      const share = withSection(slot, own);
      if (share >= minScore) top.collect(slot, share);
    });
    return top;
  };
  const first = bestByThemselves(tables, request, { ...among, looked: limit });
  const top = orderedOf(first);
  if (top.size >= enough || first.size < limit) return top;
  return orderedOf(bestByThemselves(tables, request, { ...among, looked: FURTHER_LOOK * limit }));
}

/** Finds as many of the chunks that score highest by themselves as are looked at. */
function bestByThemselves(
  tables: Tables,
  { minScore, mask }: WordsRequest,
  { readable, available, query, scores, isAllowed, ...asked }: Among & { readonly looked: number },
): TopChunks {
  const looked = Math.min(asked.looked, available);
  const ranked = createTopChunks(looked, tables.compare);
  const least = leastOwnShare(minScore);
  const collect = (slot: number, share: number) => {
    if (share > 0 && share >= least) ranked.collect(slot, share);
  };
  const few = fewSlots(tables, mask, available);
  if (few) for (const slot of few.filter(isAllowed)) collect(slot, scores.own(slot));
  else {
    const take = (slot: number) => {
      collect(slot, scores.ownOfLikely(slot));
    };
    const likely = createLikelyChunks({
      limit: looked,
      minScore: least,
      spare: spareOf(query.terms.length),
      take,
    });
    const collector = {
      get threshold() {
        return likely.threshold;
      },
      collect: (slot: number, sum: number) => {
        if (isAllowed(slot)) likely.collect(slot, sum);
      },
    };
    for (const { shard } of readable) shard.score(query, collector);
    likely.finish();
  }
  return ranked;
}

/** Returns a function that scores a chunk by the words of the query. */
export function scoreWords(tables: Tables, asked: WordsQuery): (slot: number) => number {
  const { ownOfLikely, withSection } = createSectionScores(tables, weigh(tables, asked));
  return (slot) => withSection(slot, ownOfLikely(slot));
}

/** Weighs the words of a query by the statistics of the documents that the caller owns. */
function weigh({ partitions }: Tables, { principal, query }: WordsQuery): TermWeights {
  return query.weigh(statisticsOf(partitions.of(principal.id), query));
}

function statisticsOf(own: Partition | undefined, { terms }: WordQuery): TermStatistics {
  if (!own) return noStatistics;
  const { shard } = own;
  return {
    chunks: shard.chunks,
    totalLength: shard.totalLength,
    frequencies: shard.frequenciesOf(terms),
  };
}

function createIsAllowed({ chunks: { links } }: Tables, mask: Mask | null): (slot: number) => boolean {
  if (!mask) return () => true;
  const { documents } = mask;
  return (slot) => documents[links.documentOf(slot)] === 1;
}

/** Collects the chunks that score 0. */
function fillUp(
  { chunks: { links, tieOf }, documents }: Tables,
  { readable, scores, isAllowed, top }: Among & { readonly top: TopChunks },
): void {
  /** Tells whether a chunk certainly comes after the chunks that fill the places already. */
  const isBeyond = (slot: number) => top.lowest !== null && tieOf(slot) > tieOf(top.lowest);
  for (const partition of readable) {
    for (const documentSlot of partition.documents) {
      const first = documents[documentSlot]?.firstChunk ?? -1;
      if (first < 0 || isBeyond(first) || !isAllowed(first)) continue;
      for (let slot = first; slot >= 0; slot = links.after(slot))
        if (scores.own(slot) === 0) top.collect(slot, 0);
    }
  }
}
