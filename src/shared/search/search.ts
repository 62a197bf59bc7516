import type { Embedding } from '../models/embedding.js';
import type { Candidate, Index } from '../ports.js';
import { bestFirst } from './candidates.js';
import { createCheckCandidates, takeHits, type CheckCandidates, type Dropped } from './check-candidates.js';
import { createConfirmation, OutdatedError, type Confirmation, type ReadHits } from './read-hits.js';
import { createFindCandidates, type FoundCandidates } from './find-candidates.js';
import type { Hit, SearchRequest } from './request.js';
import type { ChooseRanker } from './ranking.js';
import { traced } from '../tracing/tracing.js';

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
    const { query, k, minScore, per, signal } = request;
    const ranker = await chooseRanker(request);
    const embed = once(async () => (await embedding.embedQuery(query, { signal })).vector);
    const confirmation = createConfirmation();
    const find = createFindCandidates({ index, ranker, request, embed, confirmation });
    const check = createCheckCandidates(readHits, { ...request, confirmation });
    const look = async (width: number) => {
      const asked = { 'quire.search.ranking': ranker.ranking, 'quire.search.width': width };
      const found = await traced('search index', { attributes: asked }, () => find(width));
      const ordered = bestFirst(found.candidates, { k, minScore });
      const attributes = { 'quire.search.candidates': found.candidates.length };
      const read = () => takeHits(ordered, check, request);
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
