import type { Mask, Slices, Searcher, Sort } from '../../../index/index.js';
import { mayRead } from '../../access/access.js';
import {
  comparePlaces,
  listValue,
  nameMatcher,
  pageOf,
  type ListedPage,
  type ListOrder,
  type ListPosition,
} from '../../documents/list-order.js';
import type { DataState } from '../../ports.js';
import { toWordQuery } from '../../search/ranking.js';
import { PAGE_SIZE, type MissingChunks } from './mirror/chunk-load.js';
import type { Follower } from './mirror/follower.js';
import type { Mirror, Mirrored, MirroredFields } from './mirror/mirror.js';
import type { Answer, Question } from './protocol.js';

interface AnswerParts {
  readonly mirror: Mirror;
  readonly follower: Pick<Follower, 'missing' | 'head'>;
  readonly slices: Slices;
  /** Resolves once the mirror has all changes up to this call. */
  readonly catchUp: () => Promise<void>;
  /** Tells whether no change is expected. While changes come, an unconfirmed answer would often have to be computed again. */
  readonly isQuiet: () => boolean;
  /** The server process that the mirror follows; null or empty where it is not known. */
  readonly runId: () => string | null;
  /** @throws NotServing while the mirror is loading */
  readonly requireLoaded: () => void;
}

interface Asked {
  readonly question: Question;
  /** True if the caller has waited for the chunks that were missing when the question was first asked. */
  readonly hasWaited: boolean;
  /** Tells whether somebody still waits for the answer. */
  readonly isWanted: () => boolean;
}

/**
 * Answers a question from the mirror, once that has all that was published before. Resolves with null when nobody waits for the
 * answer any more.
 * @throws NotServing
 */
export type AnswerQuestion = (asked: Asked) => Promise<Answer | null>;

export function createAnswerQuestion(parts: AnswerParts): AnswerQuestion {
  const { isQuiet, catchUp, follower } = parts;
  return async (asked) => {
    const { question, hasWaited } = asked;
    parts.requireLoaded();
    if (question.type === 'words' && question.mayBeUnconfirmed && isQuiet()) {
      const readMask = await prepareMask(parts, asked);
      if (!readMask) return null;
      parts.requireLoaded();
      const seen = presentState(parts);
      if (seen) return answerFrom(parts.mirror, question, { mask: readMask(), seen });
    }
    await withinDeadline(catchUp());
    // Chunks that are published from now on need not be found.
    const missing = readsChunks(question) && !hasWaited ? [...follower.missing.values()] : [];
    return answerWith(parts, asked, missing);
  };
}

/** Answers once the missing chunks that the question may find are there, or says which are, if there are many. */
async function answerWith(
  parts: AnswerParts,
  asked: Asked,
  missing: readonly MissingChunks[],
): Promise<Answer | null> {
  const { mirror } = parts;
  const { question } = asked;
  for (;;) {
    const readMask = await prepareMask(parts, asked);
    await prepareVectors(parts, asked);
    if (!readMask) return null;
    // The mirror may have started over while the mask was computed.
    parts.requireLoaded();
    const mask = readMask();
    const lacking = missing.filter((each) => !each.isOver && mayBeFound(mirror, each, { question, mask }));
    if (lacking.length === 0) return answerFrom(mirror, question, { mask, seen: null });
    if (sumOf(lacking) > PAGE_SIZE) return { type: 'missing', missing: lacking.map(({ number }) => number) };
    // This takes a few milliseconds, less than asking again.
    await withinDeadline(Promise.all(lacking.map(({ over }) => over)));
  }
}

/** Returns the state of the data that the mirror has seen; null while it is not certain, or lacks chunks of it. */
function presentState({ follower: { head, missing }, runId }: AnswerParts): DataState | null {
  const server = runId();
  // Without a run id, nobody can tell whether the server was replaced by one with other data.
  if (!head?.epoch || !server || missing.size > 0) return null;
  return { server, epoch: head.epoch, sequence: head.sequence };
}

const readsChunks = ({ type }: Question): boolean => type === 'vectors' || type === 'words';

async function prepareVectors({ mirror, slices }: AnswerParts, { question, isWanted }: Asked): Promise<void> {
  const { type, principal } = question;
  if (type !== 'vectors' && type !== 'similarities') return;
  const prepare = (isTimeLeft: () => boolean) => !isWanted() || mirror.prepareVectors(isTimeLeft);
  if (!prepare(() => false)) await slices.run(principal.id, prepare);
}

/** The mask is null for a question that needs none. @returns null when nobody waits for the answer any more */
async function prepareMask(
  { mirror }: AnswerParts,
  { question, isWanted }: Asked,
): Promise<(() => Mask | null) | null> {
  const { type } = question;
  if (type === 'similarities' || type === 'word-scores') return () => null;
  if (needsNoMask(mirror, question)) return () => null;
  return mirror.prepare(question, isWanted);
}

/** Tells whether a search by words may find everything that the partitions hold in which the caller reads. */
const needsNoMask = (mirror: Mirror, question: Question): boolean =>
  question.type === 'words' && question.filter === null && mirror.readsWholePartitions(question.principal);

function mayBeFound(
  mirror: Mirror,
  { documentId }: MissingChunks,
  { question, mask }: { readonly question: Question; readonly mask: Mask | null },
): boolean {
  const document = mirror.get(documentId);
  if (!document) return false;
  return mask
    ? mask.documents[document.slot] === 1
    : mayRead(question.principal, document.accessClass.access);
}

const sumOf = (missing: readonly MissingChunks[]): number =>
  missing.reduce((sum, each) => sum + each.left(), 0);

interface Basis {
  readonly mask: Mask | null;
  /** The state that the mirror has seen, if Redis was not asked whether that is all; else null. */
  readonly seen: DataState | null;
}

function answerFrom(mirror: Mirror, question: Question, { mask, seen }: Basis): Answer {
  switch (question.type) {
    case 'words':
      return {
        type: 'candidates',
        found: mirror.searchWords({ ...question, query: toWordQuery(question.query), mask }),
        state: seen,
      };
    case 'similarities':
      return { type: 'scores', scores: mirror.similarities(question.vector, question.chunks) };
    case 'word-scores':
      return {
        type: 'scores',
        scores: mirror.wordScores({ ...question, query: toWordQuery(question.query) }, question.chunks),
      };
    case 'vectors':
      return {
        type: 'candidates',
        found: mirror.searchVectors({ ...question, mask: present(mask) }),
        state: null,
      };
    case 'list':
      return { type: 'list', page: listDocuments(mirror, { ...question, mask: present(mask) }) };
    case 'count':
      return { type: 'count', count: countDocuments(mirror, { ...question, mask: present(mask) }) };
  }
}

function present(mask: Mask | null): Mask {
  if (!mask) throw new Error('a question that needs a mask was answered without one');
  return mask;
}

interface CountRequest {
  /** The documents that may be found. */
  readonly mask: Mask;
  readonly name: string | null;
}

interface ListRequest extends CountRequest {
  readonly order: ListOrder;
  readonly after: ListPosition | null;
  readonly skip: number;
  readonly limit: number;
}

export function listDocuments(
  mirror: Pick<Searcher<Mirrored>, 'list'>,
  { mask, name, order, after, skip, limit }: ListRequest,
): ListedPage {
  const isWanted = matcherOf(name);
  const placed = mirror.list({ mask, isWanted, sort: sortBy(order), after, skip, limit });
  return pageOf(placed, { skip, limit, after });
}

export function countDocuments(
  mirror: Pick<Searcher<Mirrored>, 'count'>,
  { mask, name }: CountRequest,
): number {
  return mirror.count({ mask, isWanted: matcherOf(name) });
}

const matcherOf = (name: string | null) => (name === null ? null : nameMatcher(name));

const sortBy = (order: ListOrder): Sort<MirroredFields> => ({
  key: `${order.by} ${String(order.isDescending)}`,
  field: order.by,
  // The time of its creation stays.
  isFixed: order.by === 'created',
  valueOf: (fields) => listValue(fields, order.by),
  compare: (a, b) => comparePlaces(a, b, order),
});

const MAX_WAIT_MS = 5_000;

/** Thrown for causes that pass by themselves: the index is loading, or Redis does not tell of its changes. */
export class NotServing extends Error {}

/** @throws NotServing when the work fails or takes too long */
function withinDeadline(work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new NotServing('reading the changes takes too long'));
    }, MAX_WAIT_MS);
    const fail = (error: unknown) => {
      reject(new NotServing(messageOf(error), { cause: error }));
    };
    work
      .then(() => {
        resolve();
      }, fail)
      .finally(() => {
        clearTimeout(timer);
      });
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Without a change for so long, none is expected. */
const QUIET_MILLISECONDS = 250;

/**
 * Returns a function that tells whether nothing has changed for a while. It must be called often, since a change is taken
 * to be as old as the first call after it.
 *
 * @param changes returns the number of changes so far
 */
export function createQuietTimes(changes: () => number, now: () => number = Date.now): () => boolean {
  let seen = changes();
  let changedAt = now();
  return () => {
    if (changes() !== seen) {
      seen = changes();
      changedAt = now();
    }
    return now() - changedAt >= QUIET_MILLISECONDS;
  };
}
