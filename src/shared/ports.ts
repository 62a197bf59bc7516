/**
 * The interfaces to what the service needs from outside. `adapters/` holds the implementations.
 *
 * Glossary
 * - document: what an owner put in, known by its `external_id`; its record in Redis is the truth about it
 * - version: public number of a document's content, raised by each change of content
 * - attempt: one run at ingesting a version; version and attempt are the fence that stops stale runs
 * - generation: physical set of chunks that one attempt wrote; a document serves from one at a time
 * - discard: to give up a generation that nothing refers to any more: it is hidden at once and takes no more writes
 * - clean: to remove a discarded generation later, batch by batch: statistics forget its terms, its chunks are unlinked, and the
 *   generation itself is forgotten at the end; to remove a document discards its generations
 * - chunk: piece of a document's text, numbered from 0 within its generation
 * - section: eight chunks of a document in a row, the first from chunk 0 on, which count together in the score of each of them
 * - word: a run of letters or digits as a text writes it
 * - term: what a word is normalised to (or a pair of characters), known by a 32-bit hash; search and ranking know only terms
 * - term weight: a term's share of what a query says, by its inverse document frequency
 * - share: the part of the weight of a query's terms that a chunk or a section covers, from 0 to 1; scores by words are made of it
 * - postings: the chunks that hold a term, which an index reads to find chunks by terms
 * - mirror: what an API process holds in memory of all records, terms and, where they are not made of terms, vectors
 * - partition: the documents of one owner in a mirror, with postings of their own
 * - slot: the number of a chunk or a document within a mirror; it is used again once that is gone
 * - candidate: a chunk that an index names because it may be a hit
 * - pass: one way of asking an index for candidates; a search plans several and runs as few as it can
 * - upper bound: the highest score that a chunk which the passes so far left out can have
 * - top k: the best hits, as many as were asked for; with `per` set to `document`, one hit for each document
 * - hit: a candidate that the caller may read and that its document serves, with its score
 * - caller: who makes a request, known after authentication by an entity id and permissions
 * - principal: a caller, or somebody of whom only the id is known, as the one whose rights to documents count
 * - owner: the caller who put a document in, or owns the document that it was attached to; it stays theirs
 * - quota: how much an owner may have of documents, of bytes of their sources, or of chunks; a limit bounds anything else
 * - operator: who runs the service, and acts on its pages with the permission `admin`
 * - tag: what an access right or a property of a document is called in the hashes of its chunks, for engines to filter by
 * - token: what a model's tokenizer cuts texts into, and models are billed by; an access token is a caller's JWT
 * - access group: all readers of a document, stored once and known by one tag because there are many of them
 * - filter: parsed condition on a document's metadata
 * - job, queue, worker: a unit of background work, where it waits, and the process that runs it
 * - lane: a BullMQ queue; the queue `ingestion` has four of them (quick files, slow files, groups, pages), `cache` has two (small
 *   and large caches), and the others have one
 * - group: new short texts of one caller that one job ingests
 * - turn: the right of a caller to go next, in a lane or at an index, a parser or a model; waiting callers take turns
 * - decayed usage: the seconds that a caller has used lately of something that few have at once, of which half are forgotten every
 *   five minutes; whoever has least of it has the next turn
 * - to give way: to end a turn before its work is done, because somebody waits who goes first; the work goes on, or is done anew, later
 * - sweep: one search for things that no job looks after any more
 * - lease: something that is held for a limited time: room in memory, or the right to sweep
 * - to rerank: to score the best hits of a search anew, by a model that reads query and text together; their first order is that
 *   of the search
 * - collection: a saved scope of searches, into which documents are put; the record of a document names its collections
 * - named cache: a caller's chosen set of documents, prepared so that questions can be completed over it
 */
import type { Principal } from './access/access.js';
import type { ListedPage, ListOrder, ListPosition } from './documents/list-order.js';
import type { Filter } from './filters/parse.js';
import type { FinishReason } from './models/finish-reason.js';
import type { TextSpan } from './text/sentences.js';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Makes vectors with one model. Vectors of different models are never compared. */
export interface Embedder {
  /** The name of the model, such as `builtin-1` or `openai:text-embedding-3-small:1536`. It changes whenever its vectors do. */
  readonly model: string;
  readonly limits: { readonly inputs: number; readonly tokens: number };
  /** The length of every vector. Asks the provider, once, when only its answer can tell. */
  dimensions(options?: CallOptions): Promise<number>;
  /**
   * Returns one vector for each text, in order, each of norm at most 1, so that the inner product is the similarity.
   * @throws UnavailableError when the provider is down or wants a pause; IngestError `provider` when it refuses a text for good
   */
  embedDocuments(texts: readonly string[], options?: CallOptions): Promise<Embeddings>;
  embedQuery(text: string, options?: CallOptions): Promise<Embeddings>;
  /** Embeds several queries in one request, where a request costs more than its texts. `embedding.ts` then gathers queries. */
  embedQueries?(texts: readonly string[], options?: CallOptions): Promise<Embeddings>;
}

export interface Embeddings {
  readonly vectors: readonly Float32Array[];
  /** Tokens that the provider billed; null when it counts none, and the chunker's count is used. */
  readonly tokens: number | null;
}

/** Names a chunk of a document. */
export interface ChunkOfDocument {
  readonly documentId: string;
  readonly generation: string;
  readonly number: number;
}

/** A chunk that may be a hit. It may be out of date or unreadable, which the search checks against the document's record. */
export interface Candidate extends ChunkOfDocument {
  readonly score: number;
}

interface ChunkSearch extends CallOptions {
  readonly principal: Principal;
  readonly filter: Filter | null;
  /** The number of best candidates to return. There are more when some are known to be out of date. */
  readonly limit: number;
}

export interface VectorSearch extends ChunkSearch {
  readonly vector: Float32Array;
}

/** Finds the chunks nearest to a vector. A score is the inner product of the two vectors. */
export interface VectorIndex {
  /** Returns the nearest chunks, nearest first. */
  search(request: VectorSearch): Promise<Candidate[]>;
  /** Returns the score of each chunk; NaN for a chunk that is not there any more. */
  similarities(
    request: CallOptions & {
      readonly principal: Principal;
      readonly vector: Float32Array;
      readonly chunks: readonly ChunkOfDocument[];
    },
  ): Promise<Float64Array>;
}

export interface WordSearch extends ChunkSearch {
  readonly query: string;
  /** Chunks of a lower score are left out. */
  readonly minScore: number;
  /**
   * The number of chunks above `minScore` that is enough. Where fewer reach it, more are looked at (see
   * `src/index/scoring/score.ts`); `limit` by default.
   */
  readonly enough?: number;
  /**
   * With it, an index may answer from the data that it has seen, without asking Redis whether there is more. It then tells
   * the state of that data. The caller must compare it with the present one: if they differ, the answer may lack something.
   */
  readonly onUnconfirmed?: ((state: DataState) => void) | undefined;
}

/** A state of the data. Nothing changes in it as long as it is the present one of the same server process. */
export interface DataState {
  /** The server process of Redis, by its `run_id`. */
  readonly server: string;
  /** The name of the data set, and how many changes it had seen. */
  readonly epoch: string;
  readonly sequence: number;
}

/**
 * Finds the chunks that score highest by the words of a query, with the score of `src/index/scoring/score.ts` itself: the
 * terms are weighed by the statistics of the documents that the caller owns.
 */
export interface WordIndex {
  /**
   * Returns the chunks with the highest own scores, ordered by the score with their sections, best first, ties by document
   * id and then chunk number. With a `minScore` of 0, chunks that hold none of the words follow with the score 0.
   */
  search(request: WordSearch): Promise<Candidate[]>;
  /** Returns the score of each chunk; NaN for a chunk that is not there any more. */
  scores(
    request: CallOptions & {
      readonly principal: Principal;
      readonly query: string;
      readonly chunks: readonly ChunkOfDocument[];
    },
  ): Promise<Float64Array>;
}

/** The documents that are listed or counted. */
export interface DocumentSelection extends CallOptions {
  readonly principal: Principal;
  readonly filter: Filter | null;
  /** Words that the file name must hold, without case and accents; see `nameMatcher`. */
  readonly name?: string | null;
}

export interface IndexListing extends DocumentSelection {
  /** The newest first, where it is absent. */
  readonly order?: ListOrder;
  /** Only documents after this place are listed, without the first `skip` of them. */
  readonly after?: ListPosition | null;
  readonly skip: number;
  readonly limit: number;
}

/** Tells of problems that keep documents from being found. `fields.level` is `warn` or `error`; the fields hold no content. */
export type OnProblem = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/**
 * Finds chunks and documents by access, filter, vectors and words, over the hashes in Redis. Its answers are supersets:
 * they may contain data that has just changed, and never leave out data published before the call began.
 * @throws UnavailableError while it is loading, or when the engine cannot give a whole answer
 */
export interface Index {
  readonly name: string;
  readonly vectors: VectorIndex;
  readonly words: WordIndex;
  /** Lists readable documents that match, ties by id. */
  list(request: IndexListing): Promise<ListedPage>;
  count(request: DocumentSelection): Promise<number>;
  state(): Promise<'loading' | 'ready'>;
  close(): Promise<void>;
}

/** A piece of document text that a completion may draw on; text is data, never instructions. */
export interface Passage {
  readonly documentId: string;
  readonly chunkNumber: number;
  readonly text: string;
  /** The name of its file; absent for a text. */
  readonly filename?: string | undefined;
  /** Names the place of a part of it for people, such as `page 3`; undefined where the format tells none. */
  readonly nameOfPlace?: ((part: TextSpan) => string | undefined) | undefined;
}

/** A sentence of a passage that an answer was made from, by its bounds in the text. */
export interface Quote extends TextSpan {
  /** The number of the passage, from 0. */
  readonly passage: number;
}

/** Something that was said before a question, in the same conversation. */
export interface EarlierMessage {
  readonly role: 'instructions' | 'user' | 'assistant';
  readonly text: string;
}

export interface Prompt {
  readonly question: string;
  /** The conversation that the question goes on with, oldest first. A completer without a model passes it over. */
  readonly earlier?: readonly EarlierMessage[] | undefined;
  readonly passages: readonly Passage[];
  /** The word that fences the passages, which none of them contains; made of them where it is absent. */
  readonly fence?: string | undefined;
}

export interface CompletionOptions extends CallOptions {
  /** The caller who asks: callers take turns. */
  readonly callerId?: string;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** The advice of a completer without a model where there are no passages: the way to find more. */
  readonly findMore?: string | undefined;
}

export type CompletionEvent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'end';
      readonly finishReason: FinishReason;
      readonly promptTokens: number;
      readonly completionTokens: number;
      /** The number of tokens of the prompt that the provider had cached from an earlier one; absent when it does not say. */
      readonly promptTokensReused?: number;
      /** The sentences that the answer repeats, where the completer knows them. */
      readonly quotes?: readonly Quote[];
    };

/** Answers a question from passages. The answer is a stream that ends with one `end` event, or throws. */
export interface Completer {
  readonly model: string;
  /** Tokens of prompt and completion together. */
  readonly contextWindow: number;
  /** @throws UnavailableError when the provider is down or refuses the request */
  complete(prompt: Prompt, options?: CompletionOptions): AsyncIterable<CompletionEvent>;
}

export interface RerankOptions extends CallOptions {
  /** The caller who asks: callers take turns. */
  readonly callerId?: string;
}

/** Scores how well documents (here: any texts) answer a query, with a model that reads both together. */
export interface Reranker {
  readonly model: string;
  /** The number of documents that a request may have. */
  readonly limits: { readonly documents: number };
  /**
   * Returns one score for each document, in order. It takes as long as the provider does: callers bound that by the signal.
   * @throws RerankError when the provider is down, refuses the request, or answers otherwise than with such scores
   */
  rerank(query: string, documents: readonly string[], options?: RerankOptions): Promise<RerankScores>;
}

export interface RerankScores {
  /** From 0 to 1. */
  readonly scores: readonly number[];
  /** Tokens that the provider billed; null when it tells of none. */
  readonly tokens: number | null;
}

/** Stores source bytes. Keys are names of `[A-Za-z0-9._-]`, separated by `/`. */
export interface ObjectStorage {
  readonly bucket: string;
  /** Stores the whole stream durably under `key`, or nothing. @throws UnavailableError when the storage is full or away */
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

/** One build of a named cache. */
export interface CacheBuildId {
  readonly ownerId: string;
  readonly name: string;
  readonly build: string;
}

/** The texts of a named cache, in an order that does not change. */
export interface CacheTexts {
  readonly passages: readonly Passage[];
  /** The fence of the prompts to come. */
  readonly fence?: string | undefined;
  /** An earlier build of the same cache, whose state an engine may reuse. */
  readonly from: string | null;
}

export interface PreparedCache {
  /** The tokens that the texts take of the context window. Texts that take more than the window are not prepared. */
  readonly tokenCount: number;
  /** The bytes that the engine keeps for the cache. */
  readonly bytes: number;
}

/** Prepares the texts of a named cache, and answers from them. */
export interface CacheEngine {
  readonly name: 'prompt' | 'llama';
  readonly contextWindow: number;
  prepare(
    id: CacheBuildId,
    texts: CacheTexts,
    options?: CallOptions & { readonly onProgress?: (share: number) => void },
  ): Promise<PreparedCache>;
  query(id: CacheBuildId, prompt: Prompt, options?: CompletionOptions): AsyncIterable<CacheEvent>;
}

export type CacheEvent =
  | { readonly type: 'text'; readonly text: string }
  | (Extract<CompletionEvent, { type: 'end' }> & { readonly tokensReused: number });
