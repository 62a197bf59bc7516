import type { z } from 'zod';
import type { Chunks } from '../../shared/chunks/chunks.js';
import type { Content } from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import { IngestError } from '../../shared/errors.js';
import { boxesOn, parseHighlight } from '../../shared/page-pictures/highlight.js';
import { createGivingWay, GaveWayError } from '../../shared/fair-scheduling/giving-way.js';
import type { Turn } from '../../shared/fair-scheduling/turns.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import {
  MAX_PICTURE_BYTES,
  type PageId,
  type PagePictures,
} from '../../shared/page-pictures/page-pictures.js';
import type { PageWaits } from '../../shared/page-pictures/page-waits.js';
import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import type { renderJob } from '../../shared/queues/job-kinds.js';
import { createDeadline } from '../../shared/tools/aborting.js';
import type { Outcome } from '../lane-worker.js';
import type { ParserPool } from '../parse/pool.js';
import { withSourceCopy } from '../parse/with-source-copy.js';
import type { Wanted } from '../while-wanted.js';
import type { PageTurns } from './page-turns.js';

/** The maximum time for copying the source and rendering the page. */
const COPY_AND_RENDER_MILLISECONDS = 20_000;

interface RenderParts {
  readonly records: Pick<Records, 'read'>;
  readonly chunks: Pick<Chunks, 'readTexts'>;
  readonly storage: Pick<ObjectStorage, 'open'>;
  readonly parser: Pick<ParserPool, 'incoming' | 'render'>;
  readonly pictures: PagePictures;
  readonly waits: PageWaits;
  readonly turns: PageTurns;
  readonly metrics: WorkerMetrics;
  readonly requireMemory: () => Promise<void>;
}

interface Rendering {
  readonly id: PageId;
  readonly content: Content;
  readonly callerId: string;
  readonly turn: Turn;
}

export type RenderJob = z.infer<typeof renderJob>;

/**
 * Renders a page of a document's published version for a request that waits for it, unless it is there already. A page that
 * takes long gives way to others once, and is then left to finish. The API checks that the caller may see it, before it
 * asks and before it sends the picture.
 */
export function createRenderJob(parts: RenderParts) {
  return async (job: RenderJob, signal: AbortSignal): Promise<Outcome> => {
    const request = { isWanted: () => parts.waits.isWaiting(job.callerId, job.wait), signal };
    if (!(await request.isWanted())) return 'stale';
    const outcome = await renderSoon(parts, job, request);
    return outcome === 'slow' ? await renderAtLast(parts, job, request) : outcome;
  };
}

/** Renders a page in the first place, unless it is known to take long, or finds no turn, or turns out to take long. */
async function renderSoon(parts: RenderParts, job: RenderJob, request: Wanted): Promise<Outcome | 'slow'> {
  const { pictures, turns } = parts;
  if (await pictures.isSlow(job)) return 'slow';
  const turn = await turns.enterFirst(job.callerId, request);
  if (turn === 'left') return 'stale';
  if (turn === 'crowded') return 'slow';
  try {
    // Another request may have found out meanwhile.
    if (await pictures.isSlow(job)) return 'slow';
    return await renderInTurn(parts, job, { signal: request.signal, turn });
  } catch (error) {
    if (!(error instanceof GaveWayError)) throw error;
    await pictures.noteSlow(job);
    return 'slow';
  } finally {
    turn.end();
  }
}

async function renderAtLast(parts: RenderParts, job: RenderJob, request: Wanted): Promise<Outcome> {
  const turn = await parts.turns.enterSecond(job.callerId, request);
  if (turn === 'left') return 'stale';
  try {
    return await renderInTurn(parts, job, { signal: request.signal, turn });
  } finally {
    turn.end();
  }
}

interface InTurn extends Pick<Rendering, 'turn'> {
  readonly signal: AbortSignal;
}

async function renderInTurn(parts: RenderParts, job: RenderJob, { signal, turn }: InTurn): Promise<Outcome> {
  const { records, pictures } = parts;
  const { documentId, callerId, generation, page, highlight } = job;
  const id = { generation, page, highlight };
  if (await pictures.outcome(id)) {
    // Another request has asked for the same page.
    await pictures.announce(id);
    return 'done';
  }
  await parts.requireMemory();
  const content = (await records.read(documentId))?.published;
  if (content?.generation !== generation) {
    await pictures.fail(id, { code: 'stale', message: 'The document has changed' });
    return 'stale';
  }
  return await renderTimed(parts, { id, content, callerId, turn }, signal);
}

/** @throws GaveWayError */
async function renderTimed(
  parts: RenderParts,
  rendering: Rendering,
  signal: AbortSignal,
): Promise<'done' | 'failed'> {
  const { pictures, metrics } = parts;
  const started = performance.now();
  const note = (outcome: 'rendered' | 'failed' | 'gave_way') => {
    const seconds = (performance.now() - started) / 1_000;
    metrics.observe('quire_page_render_duration_seconds', { outcome }, seconds);
  };
  try {
    const picture = await renderWithin(parts, rendering, signal);
    await pictures.keep(rendering.id, picture);
    note('rendered');
    return 'done';
  } catch (error) {
    if (error instanceof GaveWayError) note('gave_way');
    if (!(error instanceof IngestError)) throw error;
    await pictures.fail(rendering.id, error);
    note('failed');
    return 'failed';
  }
}

/** @throws IngestError when the page cannot be rendered, also in time; GaveWayError */
async function renderWithin(parts: RenderParts, rendering: Rendering, signal: AbortSignal): Promise<Buffer> {
  const { contestedMilliseconds: milliseconds } = parts.turns;
  const way = createGivingWay({ milliseconds, isWanted: () => rendering.turn.isWanted(), signal });
  const deadline = createDeadline(COPY_AND_RENDER_MILLISECONDS, way.signal);
  try {
    const picture = await render(parts, rendering, deadline.signal);
    if (picture.length > MAX_PICTURE_BYTES)
      throw new IngestError('too_large', 'The picture of the page is too large.');
    return picture;
  } catch (error) {
    if (signal.aborted) throw error;
    if (way.gaveWay) throw new GaveWayError();
    if (!deadline.isOver) throw error;
    throw new IngestError('timeout', 'Rendering the page took too long.', { cause: error });
  } finally {
    deadline.clear();
    way.clear();
  }
}

async function render(
  { storage, parser, chunks }: RenderParts,
  { id: { generation, page, highlight }, content, callerId }: Rendering,
  signal: AbortSignal,
): Promise<Buffer> {
  const mark = highlight === null ? null : parseHighlight(highlight);
  const [marked] = mark ? await chunks.readTexts(generation, mark.chunk, 1) : [];
  const boxes = mark && marked ? boxesOn(page, marked, mark) : [];
  const source = await openSource(storage, content);
  return await withSourceCopy(source, { incoming: parser.incoming, signal }, (path) =>
    parser.render({ path, page, content: generation, boxes, callerId, signal }),
  );
}

async function openSource(storage: Pick<ObjectStorage, 'open'>, { storageKey }: Content) {
  try {
    return await storage.open(storageKey);
  } catch (error) {
    if (!(error instanceof MissingObjectError)) throw error;
    throw new IngestError('corrupt', 'The source of this document is missing.', { cause: error });
  }
}
