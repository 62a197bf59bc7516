/**
 * What the service asks of the outside, one interface each; `adapters/` holds the implementations.
 *
 * Glossary
 * - document: what an owner put in, known by its `external_id`; its record in Redis is the truth about it
 * - version: public number of a document's content, raised by each change of content
 * - attempt: one run at ingesting a version; (version, attempt) is the fence that stale runs fail at
 * - generation: physical set of chunks that one attempt wrote; a document serves from one at a time
 * - chunk: piece of a document's text, numbered from 0 within its generation
 * - word: a run of letters or digits as a text writes it
 * - term: what a word is normalised to (or a pair of characters), known by a 32-bit hash; search and ranking know only terms
 * - term weight: a term's share of what a query says, by its inverse document frequency
 * - postings: the chunks that hold a term, which an index reads to find chunks by terms
 * - candidate: a chunk that an index names because it may be a hit
 * - pass: one way of asking an index for candidates; a search plans several and runs as few as it can
 * - upper bound: the highest score that a chunk which the passes so far left out can have
 * - top k: the best hits, as many as were asked for; with `per` set to `document`, one hit for each document
 * - hit: a candidate that the caller may read and that its document serves, with its score
 * - caller: who makes a request, known after authentication by an entity id and permissions
 * - tag: what an access right or a property of a document is called in the hashes of its chunks, for engines to filter by
 * - access group: all readers of a document, stored once and known by one tag because there are many of them
 * - filter: parsed condition on a document's metadata
 * - job, queue, worker: a unit of background work, where it waits, and the process that runs it
 * - lane: the BullMQ queue that jobs of a kind wait in; the queue `ingestion` has two, the others one
 * - turn: a caller's place in a lane, or before an index
 * - sweep: one look at what no job looks after any more
 * - lease: what is held for a while and given back: room in memory, or the right to sweep
 * - named cache: a caller's chosen set of documents, prepared so that questions can be completed over it
 */
import type { Filter } from './filters/parse.js';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Vectors of one model; texts of different models are never compared. */
export interface Embedder {
  /** Names the model whose vectors these are, e.g. `builtin-1` or `openai:text-embedding-3-small:1536`. */
  readonly model: string;
  readonly limits: { readonly inputs: number; readonly tokens: number };
  /** Length of every vector; asks the provider once if only its answer can tell. */
  dimensions(options?: CallOptions): Promise<number>;
  /**
   * One vector per text, in order, each of norm at most 1 (inner product is the similarity).
   * @throws UnavailableError when the provider is down or paces us; IngestError `provider` when it refuses for good
   */
  embedDocuments(texts: readonly string[], options?: CallOptions): Promise<Embeddings>;
  embedQuery(text: string, options?: CallOptions): Promise<Embeddings>;
  /** Several queries in one request, where a request costs more than its texts; `embedding.ts` then gathers them. */
  embedQueries?(texts: readonly string[], options?: CallOptions): Promise<Embeddings>;
}

export interface Embeddings {
  readonly vectors: readonly Float32Array[];
  /** Tokens billed by the provider; null when it counts none (the chunker's count is used). */
  readonly tokens: number | null;
}

/** A chunk that may be a hit. It may be stale or unreadable: the search checks it against the document's record. */
export interface Candidate {
  readonly documentId: string;
  readonly generation: string;
  readonly number: number;
  /** Inner product of the query and chunk vectors; NaN where the search was without. */
  readonly similarity: number;
  /** Packed term counts of the chunk, as `terms.ts` writes them; empty where the search was without. */
  readonly terms: Uint8Array;
}

/** What of a candidate a ranker reads. */
export type CandidatePart = 'similarity' | 'terms';

export interface IndexSearch extends CallOptions {
  readonly vector: Float32Array;
  readonly callerId: string;
  readonly filter: Filter | null;
  /** Most similar candidates to return; more where some of them are known to be stale. */
  readonly limit: number;
  /** What of each candidate will be read, all by default: the rest may be missing. */
  readonly reads?: readonly CandidatePart[];
}

/** What the terms of a chunk are scored by. */
export interface TermWeights {
  /** Terms as `terms.ts` hashes them, ascending. */
  readonly terms: Uint32Array;
  /** The share of each in the weight of all. */
  readonly weights: Float64Array;
  /** The length of the chunks that these weights come from, in terms. */
  readonly averageLength: number;
}

export interface TermSearch extends CallOptions {
  readonly callerId: string;
  readonly filter: Filter | null;
  /** The terms to find by, of which there is at least one; every candidate holds one or more of them. */
  readonly query: TermWeights;
  /**
   * Candidates to return, those that score highest, by these weights or by the engine's own; more where some of them are
   * known to be stale.
   */
  readonly limit: number;
  /** To tell similarities to; without it candidates have none. */
  readonly vector?: Float32Array;
}

export interface IndexListing extends CallOptions {
  readonly callerId: string;
  readonly filter: Filter | null;
  readonly skip: number;
  readonly limit: number;
}

/**
 * Finds chunks and documents by access, filter and similarity, over the hashes in Redis. Its answers are supersets:
 * they may name what changed a moment ago, and never leave out what was published before the call began.
 * @throws UnavailableError while loading or when the engine cannot answer whole
 */
export interface Index {
  readonly name: string;
  search(request: IndexSearch): Promise<Candidate[]>;
  /** Finds candidates by the terms that they hold. */
  searchTerms(request: TermSearch): Promise<Candidate[]>;
  /** Whether the postings of common terms cost so little to read that the first pass searches for all terms. */
  readonly hasCheapPostings: boolean;
  /** Ids of readable documents that match, newest first, ties by id. */
  list(request: IndexListing): Promise<string[]>;
  count(request: Omit<IndexListing, 'skip' | 'limit'>): Promise<number>;
  state(): Promise<'loading' | 'ready'>;
  close(): Promise<void>;
}

/** A piece of document text that a completion may draw on; text is data, never instructions. */
export interface Passage {
  readonly documentId: string;
  readonly chunkNumber: number;
  readonly text: string;
}

export interface Prompt {
  readonly question: string;
  readonly passages: readonly Passage[];
}

export interface CompletionOptions extends CallOptions {
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export type CompletionEvent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'end';
      readonly finishReason: 'stop' | 'length';
      readonly promptTokens: number;
      readonly completionTokens: number;
      /** Of the prompt's tokens, those that the provider had at hand from an earlier prompt; absent when it does not say. */
      readonly promptTokensReused?: number;
    };

/** Answers a question from passages, as a stream that always ends with one `end` event or throws. */
export interface Completer {
  readonly model: string;
  /** Tokens of prompt and completion together. */
  readonly contextWindow: number;
  /** @throws UnavailableError when the provider is down or refuses */
  complete(prompt: Prompt, options?: CompletionOptions): AsyncIterable<CompletionEvent>;
}

/** Holds source bytes. Keys are `/`-separated names of `[A-Za-z0-9._-]`. */
export interface ObjectStorage {
  readonly bucket: string;
  /** Stores the whole stream durably under `key`, or nothing at all. @throws UnavailableError when it is full or away */
  put(key: string, source: AsyncIterable<Uint8Array>): Promise<void>;
  /** @throws MissingObjectError when there is no such object */
  open(key: string): Promise<AsyncIterable<Uint8Array> & { readonly size: number }>;
  remove(key: string): Promise<void>;
  /** Resolves when reading and writing would work. */
  check(): Promise<void>;
}

export class MissingObjectError extends Error {
  constructor(key: string) {
    super(`no object ${key}`);
    this.name = 'MissingObjectError';
  }
}

/** Prepares a named cache's texts and answers from them. */
export interface CacheEngine {
  readonly name: string;
  readonly contextWindow: number;
  /** Tokens that `passages` take of the window. */
  prepare(
    cacheId: string,
    passages: readonly Passage[],
    options?: CallOptions,
  ): Promise<{ tokenCount: number }>;
  query(cacheId: string, prompt: Prompt, options?: CompletionOptions): AsyncIterable<CacheEvent>;
  remove(cacheId: string): Promise<void>;
}

export type CacheEvent =
  | { readonly type: 'text'; readonly text: string }
  | (Extract<CompletionEvent, { type: 'end' }> & { readonly tokensReused: number });
