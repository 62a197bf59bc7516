import { factsOf, formatOf } from '../../../readers/index.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { Content, DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError, NotFoundError, TryLaterError } from '../../../shared/errors.js';
import { boxesOn, writeHighlight, type Highlight } from '../../../shared/page-pictures/highlight.js';
import {
  pictureKey,
  type PageId,
  type PagePictures,
  type RenderFailure,
  type RenderOutcome,
} from '../../../shared/page-pictures/page-pictures.js';
import type { PageWaits } from '../../../shared/page-pictures/page-waits.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { AnswerMemory, MemoryLease } from '../answer-memory/answer-memory.js';
import type { RequireRoom } from '../ingest/admission/require-room.js';
import type { ChangeWaiter } from '../ingest/waits.js';
import { eachOf, held } from '../stream-end.js';
import { readDocument, type DocumentRequest } from './document-access.js';

/** The maximum time that a request waits for its page. */
const WAIT_MILLISECONDS = 15_000;

/** The number of times that a new version may be published, or the picture expire, before it is sent. */
const MAX_TRIES = 4;

export interface PageRequest extends DocumentRequest {
  /** Numbered from 1. */
  readonly page: number;
  /** The passage that is marked. */
  readonly highlight: Highlight | null;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** A PNG, which holds memory of this process until it is sent or abandoned. */
export interface PagePicture {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly sizeBytes: number;
  readonly filename: string;
}

interface Dependencies {
  readonly records: Pick<Records, 'read' | 'inTurn'>;
  readonly chunks: Pick<Chunks, 'readTexts'>;
  readonly pictures: Pick<PagePictures, 'outcome' | 'read'>;
  readonly renderPage: RenderPage;
  readonly memory: AnswerMemory;
  /** By default `WAIT_MILLISECONDS`. */
  readonly waitMilliseconds?: number | undefined;
}

/**
 * Reads a page of a document's published version as a picture, with the passage of a chunk marked where it stands on the page.
 * @throws ForbiddenError; NotFoundError: no such document, page or chunk, or a page that cannot be rendered; ConflictError
 * while nothing is published; TooManyError and TryLaterError while others wait; TryLaterError when it is not there in time
 */
export type ReadPage = (request: PageRequest) => Promise<PagePicture>;

export function createReadPage(parts: Dependencies): ReadPage {
  const { records, waitMilliseconds = WAIT_MILLISECONDS } = parts;
  return async (request) => {
    const end = performance.now() + waitMilliseconds;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = await readDocument(records, request, 'read');
      const content = publishedPages(record, request.page);
      const found = await findPicture(parts, { request, generation: content.generation, end });
      try {
        // The record is read again at the end, so that no revocation and no new version is missed.
        const now = await readDocument(records, request, 'read');
        if (now.published?.generation === content.generation && found.type !== 'gone')
          return pictureOf(found, request);
      } catch (error) {
        if (found.type === 'picture') found.lease.release();
        throw error;
      }
      if (found.type === 'picture') found.lease.release();
    }
    throw late();
  };
}

type PublishedContent = Content & { readonly generation: string };

/** @throws ConflictError while nothing is published, NotFoundError when it has no such page */
function publishedPages({ published }: DocumentRecord, page: number): PublishedContent {
  if (published?.generation == null) throw new ConflictError('The document has not been read yet');
  const { generation, contentType, kind, extraction } = published;
  const format = kind === 'text' ? undefined : formatOf(contentType);
  if (!format || !factsOf(format).hasPages)
    throw new NotFoundError('The document has no pages that can be shown');
  if (extraction?.unit !== 'page')
    throw new NotFoundError('The document was read before its pages were counted; retry it');
  if (page > extraction.parts)
    throw new NotFoundError(`The document has no page ${String(page)}, but ${String(extraction.parts)}`);
  return { ...published, generation };
}

/** The result of the search for a picture. It is told only if the caller may still read the same generation. */
type Found =
  | { readonly type: 'picture'; readonly png: Buffer; readonly lease: MemoryLease }
  /** Another version is published, or the picture has expired. */
  | { readonly type: 'gone' }
  | { readonly type: 'refused'; readonly error: Error };

interface Finding {
  readonly request: PageRequest;
  readonly generation: string;
  /** The time until which it is waited for. */
  readonly end: number;
}

async function findPicture(parts: Dependencies, { request, generation, end }: Finding): Promise<Found> {
  const { pictures, renderPage, memory } = parts;
  const { principal, signal } = request;
  const highlight = await highlightOnPage(parts, request, generation);
  if (highlight === undefined) {
    const error = new NotFoundError(`The document has no chunk ${String(request.highlight?.chunk)}`);
    return { type: 'refused', error };
  }
  const id: PageId = { generation, page: request.page, highlight };
  const outcome = (await pictures.outcome(id)) ?? (await renderPage(id, { ...request, end }));
  if (outcome.type === 'failed')
    return outcome.code === 'stale' ? { type: 'gone' } : { type: 'refused', error: failureOf(outcome) };
  const lease = await memory.reserve({ callerId: principal.id, bytes: outcome.bytes, signal });
  try {
    const png = await pictures.read(id);
    if (png?.length === outcome.bytes) return { type: 'picture', png, lease };
  } catch (error) {
    lease.release();
    throw error;
  }
  lease.release();
  return { type: 'gone' };
}

/** The passage that is to be marked; null when nothing of it is on the page; undefined when there is no such chunk. */
async function highlightOnPage(
  { chunks }: Pick<Dependencies, 'chunks'>,
  { highlight, page }: PageRequest,
  generation: string,
): Promise<string | null | undefined> {
  if (highlight === null) return null;
  const [chunk] = await chunks.readTexts(generation, highlight.chunk, 1);
  if (!chunk) return undefined;
  return boxesOn(page, chunk, highlight).length > 0 ? writeHighlight(highlight) : null;
}

function failureOf({ code, message }: RenderFailure): Error {
  if (code === 'internal') return new TryLaterError(message, { retryAfterSeconds: 10 });
  return new NotFoundError(`The page cannot be shown: ${message}`);
}

function pictureOf(found: Exclude<Found, { type: 'gone' }>, { documentId, page }: PageRequest): PagePicture {
  if (found.type === 'refused') throw found.error;
  const { png, lease } = found;
  return {
    bytes: held(eachOf([png]), lease),
    sizeBytes: png.length,
    filename: `${documentId}-${String(page)}.png`,
  };
}

interface RenderDependencies {
  readonly pictures: Pick<PagePictures, 'outcome'>;
  readonly waits: Pick<PageWaits, 'enter' | 'leave'>;
  readonly jobs: Pick<Jobs, 'addRender'>;
  readonly waiter: ChangeWaiter;
  readonly room: Pick<RequireRoom, 'forGrowth'>;
}

/**
 * Has an ingestion worker render a page, in the caller's turn, and waits for it until `end`.
 * @throws TooManyError and TryLaterError while others wait; TryLaterError without room in Redis, or when it takes too long
 */
type RenderPage = (id: PageId, request: RenderRequest) => Promise<RenderOutcome>;

interface RenderRequest extends DocumentRequest {
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** As `performance.now` counts. */
  readonly end: number;
}

const late = () => new TryLaterError('The page was not rendered in time', { retryAfterSeconds: 5 });

export function createRenderPage({ pictures, waits, jobs, waiter, room }: RenderDependencies): RenderPage {
  return async (id, { documentId, principal: { id: callerId }, requestId, signal, end }) => {
    const milliseconds = Math.ceil(end - performance.now());
    if (milliseconds <= 0) throw late();
    await room.forGrowth('pictures of pages');
    const wait = await waits.enter(callerId, milliseconds);
    try {
      await jobs.addRender({ ...id, documentId, wait, callerId, requestId });
      const read = () => pictures.outcome(id);
      const isDone = (outcome: RenderOutcome | null) => outcome !== null;
      const outcome = await waiter.waitFor({ id: pictureKey(id), read, isDone, milliseconds, signal });
      signal.throwIfAborted();
      if (!outcome) throw late();
      return outcome;
    } finally {
      // One that stays is gone when its time is over.
      await waits.leave(callerId, wait).catch(() => undefined);
    }
  };
}
