import { canFind } from '../access/access.js';
import { at } from '../at.js';
import type { MatchableDocument } from '../document.js';
import type { Candidate } from '../ports.js';
import type { Confirmation, ReadHits } from './read-hits.js';
import type { FoundRecord, Hit, SearchRequest } from './request.js';

/** A candidate that is not a hit. */
export interface Dropped {
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
  }: Pick<SearchRequest, 'principal' | 'filter' | 'guard'> & { readonly confirmation?: Confirmation },
): CheckCandidates {
  const keepFound = (record: MatchableDocument) =>
    canFind(principal, record, filter) ? withoutLists(record) : null;
  return async (candidates) => {
    const ids = [...new Set(candidates.map(({ documentId }) => documentId))];
    const { contents, records } = await readHits(candidates, ids, keepFound, { confirmation, guard });
    const byId = new Map(ids.map((id, i) => [id, at(records, i)]));
    return candidates.map(({ documentId, generation, number, score }, i) => {
      const record = byId.get(documentId);
      const content = at(contents, i);
      if (!record) return { servedBy: null };
      const servedBy = record.published?.generation ?? null;
      if (content === null || servedBy !== generation) return { servedBy };
      const { text, location, section } = content;
      return { record, number, content: text, location, section, score };
    });
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
