import { canRead, type Principal } from '../../../shared/access/access.js';
import type { DocumentRecord, Metadata } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { failedConditions, type FailedCondition } from '../../../shared/filters/failed-conditions.js';
import { matchesFilter } from '../../../shared/filters/match.js';
import type { Filter } from '../../../shared/filters/parse.js';
import { ID_PATH } from '../../../shared/filters/paths.js';
import type { SharedViews } from '../../../shared/access/sharing.js';
import type { Explanation } from '../../../shared/search/explain-hits.js';
import type { Hit } from '../../../shared/search/request.js';
import type { AnswerMemory } from '../answer-memory/answer-memory.js';
import { documentNotFound, isDocumentId } from '../documents/document-access.js';
import type { Accounting } from '../usage-accounting.js';
import { findHits, hitsWanted, type FindHitsParts } from './find-hits.js';
import { searchMetadata, type RetrievalRequest } from './retrieval.js';

/** A search, and the document of which the caller wants to know why it is in its answer, or why not. */
export interface ExplainRequest extends Omit<
  RetrievalRequest,
  'query' | 'rerank' | 'highlight' | 'explain' | 'context'
> {
  readonly query: string;
  readonly documentId: string;
  /** The filter as the caller wrote it. */
  readonly filterJson: unknown;
  /** Chunks are counted by `k`, or documents. */
  readonly per: 'chunk' | 'document';
}

/** Why a document is in an answer, or why not. */
export const EXPLAINED_REASONS = [
  'found',
  'not_published',
  'not_in_collection',
  'filtered',
  'not_shared',
  'no_common_word',
  'below_min_score',
  'beyond_k',
  'not_indexed',
] as const;
export type ExplainedReason = (typeof EXPLAINED_REASONS)[number];

export interface DocumentExplanation {
  readonly documentId: string;
  readonly reason: ExplainedReason;
  readonly status: DocumentRecord['status'];
  readonly error: DocumentRecord['error'];
  /** The conditions of the filter that it does not fulfil. */
  readonly conditions: readonly FailedCondition[];
  /** Its place among the results, and how many there are; null where it is not among the first thousand. */
  readonly rank: number | null;
  readonly of: number | null;
  /** The chunk of it that scores best; null where no search was made. */
  readonly best: BestOfDocument | null;
}

interface BestOfDocument {
  readonly chunkNumber: number;
  readonly score: number;
  readonly explanation: Explanation | null;
}

export type ExplainDocument = (request: ExplainRequest) => Promise<DocumentExplanation>;

interface Parts extends Omit<FindHitsParts, 'sharedViews'> {
  readonly sharedViews: Pick<SharedViews, 'within' | 'predicateOf'>;
  readonly records: Pick<Records, 'read' | 'inTurn'>;
  readonly accounting: Accounting;
  readonly memory: AnswerMemory;
  readonly countTokens: (text: string) => number;
}

/** The most results of a search, among which a document has its place. */
const MAX_RESULTS = 1_000;

/**
 * Explains why a document is in the answer to a search, or why not: first by its record, and then by that search itself,
 * with the `k` that was asked for, with the greatest, and at last among this document alone.
 * @throws NotFoundError also for a document that the caller may not read
 */
export function createExplainDocument(parts: Parts): ExplainDocument {
  return (request) => {
    const { principal, startedAtMs, signal, per, documentId } = request;
    const metadata: Metadata = { ...searchMetadata(request), document_id: documentId };
    const operation = per === 'document' ? 'retrieve_docs' : 'retrieve_chunks';
    return parts.accounting.run(
      { operation, userId: principal.id, startedAtMs, signal, metadata },
      async () => ({
        result: await explain(parts, request),
        tokens: parts.countTokens(request.query),
      }),
    );
  };
}

async function explain(parts: Parts, request: ExplainRequest): Promise<DocumentExplanation> {
  const { documentId, principal } = request;
  const record = await readRecord(parts.records, request);
  const { status } = record;
  const error = status === 'failed' ? record.error : null;
  const told = { documentId, status, error, conditions: [], rank: null, of: null, best: null };
  if (!record.published) return { ...told, reason: 'not_published' };
  const scope = await parts.collections.scope(request.collection, principal);
  if (scope && !matchesFilter(record, scope)) return { ...told, reason: 'not_in_collection' };
  const conditions = failedConditions(request.filterJson, record);
  if (conditions.length > 0) return { ...told, conditions, reason: 'filtered' };
  const isWanted = await parts.sharedViews.predicateOf({ principal, shared: request.shared });
  if (!isWanted(record)) return { ...told, reason: 'not_shared' };
  const { reason, ...found } = await findPlace(parts, request);
  return { ...told, ...found, reason };
}

async function readRecord(
  records: Parts['records'],
  { documentId, principal, signal }: { documentId: string; principal: Principal; signal: AbortSignal },
): Promise<DocumentRecord> {
  const read = () => records.read(documentId);
  const record = isDocumentId(documentId) ? await records.inTurn(principal.id, read, signal) : null;
  if (!record || !canRead(principal, record)) throw documentNotFound();
  return record;
}

type Place = Pick<DocumentExplanation, 'reason' | 'rank' | 'of' | 'best'>;

/** Looks for the document in the answer, then among more results, and then for its score where that decides. */
async function findPlace(parts: Parts, request: ExplainRequest): Promise<Place> {
  const answer = await look(parts, request);
  if (answer.best) return { ...answer, reason: 'found' };
  const more = request.k === MAX_RESULTS ? answer : await look(parts, { ...request, k: MAX_RESULTS });
  if (more.best) return { ...more, reason: reasonBeyond(more.best) };
  const { of } = more;
  // The weights of a hybrid score follow from the candidates, so that it is looked for among all of them first.
  const all = request.minScore > 0 ? await look(parts, { ...request, k: MAX_RESULTS, minScore: 0 }) : more;
  const { best } = all.best ? all : await look(parts, { ...onlyThis(request), k: 1, minScore: 0 });
  if (!best) return { reason: 'not_indexed', rank: null, of, best };
  const beyond = reasonBeyond(best);
  const reason = beyond === 'beyond_k' && best.score < request.minScore ? 'below_min_score' : beyond;
  return { reason, rank: null, of, best };
}

/** The words alone count in a lexical score, and a chunk that holds none of them scores 0. */
const reasonBeyond = ({ score, explanation }: BestOfDocument): ExplainedReason =>
  score === 0 && explanation?.ranking === 'lexical' ? 'no_common_word' : 'beyond_k';

function onlyThis(request: ExplainRequest): ExplainRequest {
  const isThis: Filter = { type: 'equals', path: ID_PATH, values: [request.documentId] };
  const filter: Filter = request.filter ? { type: 'and', filters: [request.filter, isThis] } : isThis;
  return { ...request, filter };
}

/** Searches, and keeps of the results the place of the document and its best chunk alone. */
async function look(parts: Parts, request: ExplainRequest): Promise<Omit<Place, 'reason'>> {
  const { documentId, principal, query, signal } = request;
  const wanted = { ...request, rerank: null, explain: true };
  const lease = await parts.memory.reserve(hitsWanted(parts, wanted));
  try {
    const { hits, notes } = await findHits(parts, wanted, lease);
    const index = hits.findIndex(({ record }) => record.id === documentId);
    const hit: Hit | undefined = hits[index];
    const of = hits.length;
    if (!hit || !notes) return { rank: null, of, best: null };
    const [explanation = null] = await parts.details.explain([hit], { principal, query, notes, signal });
    return { rank: index + 1, of, best: { chunkNumber: hit.number, score: hit.score, explanation } };
  } finally {
    lease.release();
  }
}
