import type { TermWeights } from '../../../ports.js';
import { coveredShare } from '../../../search/bm25.js';
import { leastOwnShare, looksAt } from '../../../search/section-score.js';
import { noStatistics, weighQuery, type TermStatistics } from '../../../search/query-terms.js';
import { analyzeText } from '../../../text/analyze-text.js';
import type { MirroredDocument } from '../mirror/mirrored.js';
import { fewSlots } from '../scan/few-slots.js';
import type { Mask } from '../scan/working-mask.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { Partition, Partitions } from '../tables/partitions.js';
import type { ScoredSlots } from '../packed-candidates.js';
import { createLikelyChunks } from './likely-chunks.js';
import { createSectionScores } from './section-scores.js';
import { createTopChunks, type CompareSlots, type TopChunks } from './top-chunks.js';

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links' | 'terms' | 'tieOf'>;
  /** By document slot. */
  readonly documents: readonly (MirroredDocument | undefined)[];
  readonly partitions: Pick<Partitions, 'of' | 'readableBy'>;
  /** Orders chunks of equal score. */
  readonly compare: CompareSlots;
}

interface WordsQuery {
  readonly callerId: string;
  readonly query: string;
}

interface WordsRequest extends WordsQuery {
  readonly minScore: number;
  readonly limit: number;
  /** While fewer chunks reach the least score, more are looked at. */
  readonly enough: number;
  /** Null when everything in the caller's partitions may be found. */
  readonly mask: Mask | null;
}

/**
 * Finds the chunks that score highest by themselves by the words of the query, and orders them by the score that counts their
 * sections, too; it is at least `minScore`, and while it is so for fewer than `enough`, more chunks are looked at. With a
 * `minScore` of 0, chunks that hold none of the words follow while there is room, by document id and number.
 */
export function searchWords(tables: Tables, request: WordsRequest): ScoredSlots {
  const { chunks, partitions, compare } = tables;
  const { callerId, minScore, enough } = request;
  const readable = partitions.readableBy(callerId).map(({ partition }) => partition);
  const available = readable.reduce((sum, { shard }) => sum + shard.chunks, 0);
  const limit = Math.min(request.limit, available);
  const query = weigh(tables, request);
  const score = createScore(chunks, query);
  const among: Among = {
    readable,
    available,
    query,
    score,
    isAllowed: createIsAllowed(tables, request.mask),
  };
  const folded = createSectionScores(chunks, query);
  let top = createTopChunks(limit, compare);
  for (const wanted of looksAt(request.limit)) {
    const looked = Math.min(wanted, available);
    const ranked = bestByThemselves(tables, request, { ...among, looked });
    top = createTopChunks(limit, compare);
    const reached = offerFolded(ranked, { folded, minScore, top });
    if (reached >= enough || ranked.slots.length < wanted) break;
  }
  if (minScore <= 0 && top.threshold === -Infinity) fillUp(tables, { ...among, top });
  return top.take();
}

/** What is searched, and how its chunks score by themselves. */
interface Among {
  readonly readable: readonly Partition[];
  /** How many chunks these have. */
  readonly available: number;
  readonly query: TermWeights;
  readonly score: (slot: number) => number;
  readonly isAllowed: (slot: number) => boolean;
}

/** Finds as many of the chunks that score highest by themselves as are looked at. */
function bestByThemselves(
  tables: Tables,
  { minScore, mask }: WordsRequest,
  { readable, available, query, score, isAllowed, looked }: Among & { readonly looked: number },
): ScoredSlots {
  const ranked = createTopChunks(looked, tables.compare);
  const least = leastOwnShare(minScore);
  const take = (slot: number) => {
    const share = score(slot);
    if (share > 0 && share >= least) ranked.offer(slot, share);
  };
  const few = fewSlots(tables, mask, available);
  if (few) for (const slot of few.filter(isAllowed)) take(slot);
  else {
    const likely = createLikelyChunks({ limit: looked, minScore: least, take });
    const offers = {
      get threshold() {
        return likely.threshold;
      },
      offer: (slot: number, sum: number) => {
        if (isAllowed(slot)) likely.offer(slot, sum);
      },
    };
    for (const { shard } of readable) shard.score(query, offers);
    likely.finish();
  }
  return ranked.take();
}

/** Offers chunks with the scores that count their sections, too. @returns how many reach the least score */
function offerFolded(
  { slots, scores }: ScoredSlots,
  {
    folded,
    minScore,
    top,
  }: {
    readonly folded: (slot: number, own: number) => number;
    readonly minScore: number;
    readonly top: TopChunks;
  },
): number {
  let reached = 0;
  for (let i = 0; i < slots.length; i += 1) {
    // `?? 0` reads what is known to be there.
    const slot = slots[i] ?? 0;
    const share = folded(slot, scores[i] ?? 0);
    if (share < minScore) continue;
    reached += 1;
    top.offer(slot, share);
  }
  return reached;
}

/** Returns a function that scores a chunk by the words of the query. */
export function scoreWords(tables: Tables, asked: WordsQuery): (slot: number) => number {
  const query = weigh(tables, asked);
  const own = createScore(tables.chunks, query);
  const folded = createSectionScores(tables.chunks, query);
  return (slot) => folded(slot, own(slot));
}

/** Weighs the words of a query by the statistics of the documents that the caller owns. */
function weigh({ partitions }: Tables, { callerId, query }: WordsQuery): TermWeights {
  return weighQuery(query, statisticsOf(partitions.of(callerId), query));
}

function statisticsOf(own: Partition | undefined, query: string): TermStatistics {
  if (!own) return noStatistics;
  const { shard } = own;
  const terms = [...analyzeText(query).counts.keys()];
  return {
    chunks: shard.chunks,
    totalLength: shard.totalLength,
    frequencies: shard.frequenciesOf(terms),
  };
}

/** What a chunk scores by itself. */
function createScore({ terms }: Tables['chunks'], query: TermWeights): (slot: number) => number {
  const counts = new Uint8Array(query.terms.length);
  return (slot) => {
    const packed = terms.read(slot);
    return packed ? coveredShare(packed, query, counts) : 0;
  };
}

function createIsAllowed({ chunks: { links } }: Tables, mask: Mask | null): (slot: number) => boolean {
  if (!mask) return () => true;
  const { documents } = mask;
  return (slot) => documents[links.documentOf(slot)] === 1;
}

/** Offers the chunks that score 0. */
function fillUp(
  { chunks: { links, tieOf }, documents }: Tables,
  { readable, score, isAllowed, top }: Among & { readonly top: TopChunks },
): void {
  /** Whether a chunk certainly comes after those that fill the places already. */
  const isBeyond = (slot: number) => top.lowest !== null && tieOf(slot) > tieOf(top.lowest);
  for (const partition of readable) {
    for (const documentSlot of partition.documents) {
      const first = documents[documentSlot]?.firstChunk ?? -1;
      if (first < 0 || isBeyond(first) || !isAllowed(first)) continue;
      for (let slot = first; slot >= 0; slot = links.after(slot)) if (score(slot) === 0) top.offer(slot, 0);
    }
  }
}
