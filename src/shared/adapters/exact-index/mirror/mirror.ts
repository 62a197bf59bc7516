import {
  loadIndex,
  type AppRules,
  type IndexWriter,
  type Searcher,
  type TermEmbedding,
} from '../../../../index/index.js';
import { mayRead, readersOf, type AccessLists, type Principal } from '../../../access/access.js';
import type { DocumentRecord, FilterableDocument } from '../../../document.js';
import { bytesOfFilter, conditionsOf, compileFilter } from '../../../filters/match.js';
import type { Filter } from '../../../filters/parse.js';
import { divisorOf, saturated, termProduct } from '../../../text/term-vectors.js';

/**
 * The fields of each document that the mirror holds. Contents hold only fields that filters look at, so that documents can
 * share them.
 */
export type MirroredFields = FilterableDocument & Pick<DocumentRecord, 'updatedAt'>;

export interface Mirrored {
  readonly principal: Principal;
  readonly access: AccessLists;
  readonly fields: MirroredFields;
  readonly filter: Filter;
}

/** An index of all documents in memory, as they are in Redis. */
export type Mirror = IndexWriter<Mirrored> & Searcher<Mirrored>;

/** The source of the chunks' vectors: Redis, or their terms; with `none` only words are searched for. */
export const HELD_VECTORS = ['stored', 'of-terms', 'none'] as const;
export type HeldVectors = (typeof HELD_VECTORS)[number];

interface MirrorOptions {
  readonly held: HeldVectors;
  /** Called when there is something to do for `compact`, and for `flush` if `isFull`. */
  readonly onDirty: (about: { readonly isFull: boolean }) => void;
}

/** Loads the function that makes mirrors. */
export async function loadMirror(): Promise<(options: MirrorOptions) => Mirror> {
  const createMemoryIndex = await loadIndex();
  return ({ held, onDirty }) => {
    const vectors = held === 'of-terms' ? TERM_EMBEDDING : held;
    return createMemoryIndex({ rules: RULES, vectors, onDirty });
  };
}

/** The rules that the index asks for. */
export const RULES: AppRules<Mirrored> = {
  mayRead,
  readersOf,
  compile: (filter) => ({
    matches: compileFilter(filter),
    conditions: conditionsOf(filter),
    bytes: bytesOfFilter(filter),
  }),
};

/** The vectors of the builtin embedder. */
const TERM_EMBEDDING: TermEmbedding = { termProduct, weigh: saturated, divisorOf };
