import { canFind } from '../access/access.js';
import { at } from '../at.js';
import { slicesOf } from '../batches.js';
import type { MatchableDocument } from '../document.js';
import type { Embedding } from '../models/embedding.js';
import type { Candidate, Index } from '../ports.js';
import { traced } from '../tracing/tracing.js';
import {
  bestFirst,
  candidateOf,
  chunkOfHit,
  createFindCandidates,
  type FoundCandidates,
} from './candidates.js';
import type { ChooseRanker } from './ranking.js';
import { createConfirmation, OutdatedError, type Confirmation, type ReadHits } from './read-hits.js';
import { timed, type Hit, type SearchRequest, type FoundRecord } from './request.js';
import { nextSlice } from '../tools/time-slices.js';

export type Search = (request: SearchRequest) => Promise<Hit[]>;

/** A search begins again this often at most. */
const MAX_RESTARTS = 3;

/**
 * Finds candidates, orders them and checks every hit against its record, in the same way for all engines. While candidates
 * that are no hits take the places of others, it looks for twice as many.
 * @throws UnavailableError when the provider or the index cannot answer
 */
export function createSearch(parts: {
  readonly index: Pick<Index, 'vectors' | 'words'>;
  readonly embedding: Pick<Embedding, 'embedQuery'>;
  readonly chooseRanker: ChooseRanker;
  readonly readHits: ReadHits;
}): Search {
  const { index, embedding, chooseRanker, readHits } = parts;
  return async (request) => {
    const { k, minScore, per, notes } = request;
    // Analysing the longest queries takes some ten milliseconds, and several may come in one turn of the event loop.
    await nextSlice();
    const ranker = await chooseRanker(request);
    const embed = once(() => embedNoted(embedding, request));
    const confirmation = createConfirmation();
    const find = createFindCandidates({ index, ranker, request, embed, confirmation });
    const check = createCheckCandidates(readHits, { ...request, confirmation });
    const look = async (width: number) => {
      const asked = { 'quire.search.ranking': ranker.ranking, 'quire.search.width': width };
      const found = await traced('search index', { attributes: asked }, () =>
        timed(notes, 'index', () => find(width)),
      );
      if (notes) notes.scoring = { ranking: ranker.ranking, ...found.vectors };
      const ordered = bestFirst(found.candidates, { k, minScore });
      const attributes = { 'quire.search.candidates': found.candidates.length };
      const read = () => timed(notes, 'read', () => takeHits(ordered, check, request));
      return { found, ...(await traced('read hits', { attributes }, read)) };
    };
    for (let [width, restarts] = [1, 0]; ;) {
      const { found, hits, dropped } = await withCertainty(() => look(width), confirmation);
      if (found.gone.length > 0) dropped.push(...(await replacedOf(found.gone, check)));
      const isCrowded = dropped.length > 0 || per === 'document';
      const isShort = hits.length < k ? isCrowded : lacksAny(found, dropped);
      if (restarts < MAX_RESTARTS && wasOvertaken(found.candidates, dropped)) restarts += 1;
      else if (isShort && found.isCutOff) width *= 2;
      else return hits;
    }
  };
}

async function embedNoted(
  embedding: Pick<Embedding, 'embedQuery'>,
  { query, notes, signal }: SearchRequest,
): Promise<Float32Array> {
  const { vector } = await timed(notes, 'embed', () => embedding.embedQuery(query, { signal }));
  // A vector may be handed over to a thread.
  if (notes) notes.vector = vector.slice();
  return vector;
}

/** Tells whether dropped candidates took the places of candidates that might be among the best. */
function lacksAny({ candidates, needed }: FoundCandidates, dropped: readonly Dropped[]): boolean {
  return dropped.length > 0 && candidates.length - dropped.length < needed;
}

/** Looks again where the result is not of the present data, or no read could have told. */
async function withCertainty<Result>(
  look: () => Promise<Result>,
  confirmation: Confirmation,
): Promise<Result> {
  try {
    const result = await look();
    if (confirmation.state === null) return result;
  } catch (error) {
    if (!(error instanceof OutdatedError)) throw error;
  }
  confirmation.giveUp();
  return look();
}

/** The number of gone generations that are looked at, since one that was replaced is enough to begin again. */
const MAX_GONE = 100;

/**
 * Candidates whose generation was replaced since the index answered. A generation that still serves lacks its score for
 * another reason.
 */
async function replacedOf(gone: readonly Candidate[], check: CheckCandidates): Promise<Dropped[]> {
  const checked = await check(gone.slice(0, MAX_GONE));
  return checked.flatMap((each, i) =>
    'record' in each || each.servedBy === gone[i]?.generation ? [] : [each],
  );
}

/** Tells whether a document serves a generation without a candidate, so that neither its old nor its new hits are there. */
export function wasOvertaken(candidates: readonly Candidate[], dropped: readonly Dropped[]): boolean {
  if (dropped.length === 0) return false;
  const found = new Set(candidates.map(({ generation }) => generation));
  return dropped.some(({ servedBy }) => servedBy !== null && !found.has(servedBy));
}

/** Runs a task at the first call, and returns the same promise from then on. */
function once<Value>(task: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | null = null;
  return () => (answer ??= task());
}

/** A candidate that is not a hit. */
interface Dropped {
  /** The generation that the document serves instead; null when the caller may not have that either. */
  readonly servedBy: string | null;
}

/** Decides for each candidate whether it is a hit, in their order. */
export type CheckCandidates = (candidates: readonly Candidate[]) => Promise<(Hit | Dropped)[]>;

/** This many candidates are checked at a time, so that a large `k` never blocks the event loop. */
const CHECK_SIZE = 100;

/**
 * Compares every candidate with the record of its document.
 * @param request.confirmation of the candidates, which throw OutdatedError where that fails; and `guard` in the same way
 */
export function createCheckCandidates(
  readHits: ReadHits,
  {
    principal,
    filter,
    guard,
    confirmation,
    signal,
  }: Pick<SearchRequest, 'principal' | 'filter' | 'guard'> & {
    readonly confirmation?: Confirmation;
    readonly signal?: AbortSignal;
  },
): CheckCandidates {
  const keepFound = (record: MatchableDocument) =>
    canFind(principal, record, filter) ? withoutLists(record) : null;
  const options = { confirmation, guard, callerId: principal.id, signal };
  return async (candidates) => {
    const ids = [...new Set(candidates.map(({ documentId }) => documentId))];
    const { contents, records } = await readHits(candidates, ids, keepFound, options);
    const byId = new Map(ids.map((id, i) => [id, at(records, i)]));
    return candidates.map(({ documentId, generation, number, score }, i) => {
      const record = byId.get(documentId);
      const content = at(contents, i);
      if (!record) return { servedBy: null };
      const servedBy = record.published?.generation ?? null;
      if (content === null || servedBy !== generation) return { servedBy };
      const { text, ...places } = content;
      return { record, number, content: text, ...places, score };
    });
  };
}

/** Tells which hits still are hits, after a while; `isOvertaken`: a document serves another content by now. */
export type RecheckHits = (
  hits: readonly Hit[],
  request: Pick<SearchRequest, 'principal' | 'filter' | 'guard' | 'signal'>,
) => Promise<{ readonly areHits: readonly boolean[]; readonly isOvertaken: boolean }>;

export function createRecheckHits(readHits: ReadHits): RecheckHits {
  return async (hits, request) => {
    const check = createCheckCandidates(readHits, request);
    const checked: (Hit | Dropped)[] = [];
    for (const some of slicesOf(hits, CHECK_SIZE))
      checked.push(...(await check(some.map((hit) => candidateOf(chunkOfHit(hit), hit.score)))));
    return {
      areHits: checked.map((each) => 'record' in each),
      isOvertaken: checked.some((each) => !('record' in each) && each.servedBy !== null),
    };
  };
}

function withoutLists(record: MatchableDocument): FoundRecord {
  const { id, ownerId, createdAt, metadata, published, pending } = record;
  return { id, ownerId, createdAt, metadata, published, pending };
}

/** Takes candidates in their order until there are `k` hits. */
export async function takeHits(
  ordered: Iterator<Candidate>,
  check: CheckCandidates,
  { k, per, onHits }: Pick<SearchRequest, 'k' | 'per' | 'onHits'>,
): Promise<{ hits: Hit[]; dropped: Dropped[] }> {
  const hits: Hit[] = [];
  const dropped: Dropped[] = [];
  const seen = new Set<string>();
  while (hits.length < k) {
    const size = Math.min(CHECK_SIZE, k - hits.length);
    const batch = nextBatch(ordered, { size, per, seen });
    if (batch.length === 0) break;
    for (const checked of await check(batch)) {
      if ('record' in checked) hits.push(checked);
      else dropped.push(checked);
    }
    onHits?.(hits);
  }
  return { hits, dropped };
}

/** @param seen generations that were taken before; the generations of this batch are added */
function nextBatch(
  ordered: Iterator<Candidate>,
  { size, per, seen }: { size: number; per: SearchRequest['per']; seen: Set<string> },
): Candidate[] {
  const batch: Candidate[] = [];
  while (batch.length < size) {
    const next = ordered.next();
    if (next.done) break;
    // Generations are told apart instead of documents, since a stale one must not displace the one that serves.
    if (per === 'document' && seen.has(next.value.generation)) continue;
    seen.add(next.value.generation);
    batch.push(next.value);
  }
  return batch;
}
