import type { AccessLists, Principal } from '../access/access.js';
import type { SharingGuard } from '../access/sharing.js';
import { addTo } from '../at.js';
import type { Whereabouts } from '../chunks/fields.js';
import type { MatchableDocument } from '../document.js';
import type { Filter } from '../filters/parse.js';
import type { TextSpan } from '../text/sentences.js';
import type { Ranking, VectorWeight } from './ranking.js';

/** The parameters of a search. */
export interface SearchRequest {
  readonly principal: Principal;
  readonly query: string;
  readonly filter: Filter | null;
  /** The guard of the lists that the filter heeds. A search throws SharingChangedError where they are others by now. */
  readonly guard?: SharingGuard | null;
  /** The greatest number of hits to return. */
  readonly k: number;
  readonly minScore: number;
  /** The standard ranking when absent. */
  readonly ranking?: Ranking | undefined;
  /** With `document`, each document comes once, with its best chunk. */
  readonly per: 'chunk' | 'document';
  readonly signal?: AbortSignal;
  /** Gets all hits so far whenever there are more. An error of it ends the search. */
  readonly onHits?: (hits: readonly Hit[]) => void;
  /** Gets what an explanation tells of the search; absent where nobody asks for one. */
  readonly notes?: SearchNotes | undefined;
}

/** The way in which the last look of a search has scored, and the time that its steps took. */
export interface SearchNotes {
  scoring: Scoring | null;
  /** The vector of the query; null where none was made. */
  vector: Float32Array | null;
  /** The first scores of reranked hits, by the names of the chunks (`addressOf`). */
  readonly firstScores: Map<string, number>;
  /** Milliseconds, by step. */
  readonly times: Map<SearchStep, number>;
}

export interface Scoring extends VectorWeight {
  readonly ranking: Ranking;
}

/** The steps of a search whose times an answer tells. */
type SearchStep = 'embed' | 'index' | 'read' | 'rerank' | 'context' | 'highlight' | 'explain';

export const createNotes = (): SearchNotes => ({
  scoring: null,
  vector: null,
  firstScores: new Map(),
  times: new Map(),
});

/** Runs a step, and adds its time to the notes where there are any. */
export async function timed<Result>(
  notes: SearchNotes | undefined,
  step: SearchStep,
  run: () => Promise<Result>,
): Promise<Result> {
  if (!notes) return run();
  const startedAt = performance.now();
  try {
    return await run();
  } finally {
    addTo(notes.times, step, performance.now() - startedAt);
  }
}

/** The part of a record that answers need. Its access lists may be far longer than all the rest. */
export type FoundRecord = Omit<MatchableDocument, keyof AccessLists>;

/** A chunk that the caller may read, by the record as it was when the answer was built. */
export interface Hit extends Whereabouts {
  readonly record: FoundRecord;
  readonly number: number;
  readonly content: string;
  /** In [0, 1]. Hits are ordered by it, ties by document and then chunk number. */
  readonly score: number;
  /** The chunks and hits that `content` was joined of, where it is more than the chunk. */
  readonly widened?: WidenedText;
}

/** The chunks that the text of a widened hit was joined of, and the hits among them, by their numbers. */
export interface WidenedText {
  readonly parts: readonly ChunkPart[];
  readonly matches: readonly Match[];
}

/** A hit within the text of a widened one. */
export interface Match extends TextSpan {
  readonly chunkNumber: number;
  readonly score: number;
}

/** A chunk within the text of a widened hit. */
export interface ChunkPart extends Whereabouts {
  readonly number: number;
  /** The whole text of the chunk. */
  readonly text: string;
  /** The part of the widened text that this chunk adds. */
  readonly start: number;
  readonly end: number;
  /** The place from which on the widened text is that of the chunk up to `end`: what the chunk repeats comes before `start`. */
  readonly from: number;
}
