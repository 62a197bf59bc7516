import type { z } from 'zod';
import type { Chunks } from '../../shared/chunks/chunks.js';
import type { Content } from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import { IngestError } from '../../shared/errors.js';
import type { Box } from '../../readers/index.js';
import { createGivingWay, GaveWayError } from '../../shared/fair-scheduling/giving-way.js';
import type { Turns } from '../../shared/fair-scheduling/turns.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import {
  MAX_PICTURE_BYTES,
  type PageId,
  type PagePictures,
} from '../../shared/page-pictures/page-pictures.js';
import type { PageWaits } from '../../shared/page-pictures/page-waits.js';
import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import type { renderJob } from '../../shared/queues/payloads.js';
import { createDeadline } from '../../shared/tools/deadline.js';
import type { Outcome } from '../lane-worker.js';
import type { ParserPool } from '../parse/pool.js';
import { withSourceCopy } from '../parse/with-source-copy.js';
import { whileWanted } from '../while-wanted.js';

/** The maximum time for copying the source and rendering the page, so that no slow file holds up other pages for long. */
const RENDER_MILLISECONDS = 20_000;
/** The same while another waits who has used less. A request waits for 15 s, and most pages take a tenth of this. */
const CONTESTED_MILLISECONDS = 4_000;

interface RenderParts {
  readonly records: Pick<Records, 'read'>;
  readonly chunks: Pick<Chunks, 'readTexts'>;
  readonly storage: Pick<ObjectStorage, 'open'>;
  readonly parser: Pick<ParserPool, 'incoming' | 'render'>;
  readonly pictures: PagePictures;
  readonly waits: PageWaits;
  /** Of the process that renders pages: whoever has used least of it goes first. */
  readonly turns: Turns;
  /** By default `CONTESTED_MILLISECONDS`. */
  readonly contestedMilliseconds?: number | undefined;
  readonly metrics: WorkerMetrics;
  readonly requireMemory: () => Promise<void>;
}

interface Rendering {
  readonly id: PageId;
  readonly content: Content;
  readonly callerId: string;
}

export type RenderJob = z.infer<typeof renderJob>;

/**
 * Renders a page of a document's published version for a request that waits for it, unless it is there already. Whether the
 * caller may see it is checked by the API, before it asks and before it sends the picture.
 */
export function createRenderPage(parts: RenderParts) {
  return async (job: RenderJob, signal: AbortSignal): Promise<Outcome> => {
    const isWanted = () => parts.waits.isWaiting(job.callerId, job.wait);
    if (!(await isWanted())) return 'stale';
    const leave = await whileWanted({ isWanted, signal }, (wanted) =>
      parts.turns.enter({ by: job.callerId, signal: wanted }),
    );
    if (!leave) return 'stale';
    try {
      return await renderInTurn(parts, job, signal);
    } finally {
      leave();
    }
  };
}

async function renderInTurn(parts: RenderParts, job: RenderJob, signal: AbortSignal): Promise<Outcome> {
  const { records, pictures } = parts;
  const { documentId, callerId, generation, page, chunk } = job;
  const id = { generation, page, chunk };
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
  return await renderTimed(parts, { id, content, callerId }, signal);
}

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
    const gaveWay = error instanceof GaveWayError;
    if (!gaveWay && !(error instanceof IngestError)) throw error;
    await pictures.fail(rendering.id, gaveWay ? GAVE_WAY : error);
    note(gaveWay ? 'gave_way' : 'failed');
    return 'failed';
  }
}

/** It may be asked for again soon. */
const GAVE_WAY = { code: 'internal', message: 'The page takes long to render, and others wait' } as const;

/** @throws IngestError when the page cannot be rendered, also in time; GaveWayError */
async function renderWithin(parts: RenderParts, rendering: Rendering, signal: AbortSignal): Promise<Buffer> {
  const { turns, contestedMilliseconds: milliseconds = CONTESTED_MILLISECONDS } = parts;
  const isWanted = () => turns.isWanted(rendering.callerId);
  const turn = createGivingWay({ milliseconds, isWanted, signal });
  const deadline = createDeadline(RENDER_MILLISECONDS, turn.signal);
  try {
    const picture = await render(parts, rendering, deadline.signal);
    if (picture.length > MAX_PICTURE_BYTES)
      throw new IngestError('too_large', 'The picture of the page is too large.');
    return picture;
  } catch (error) {
    if (signal.aborted) throw error;
    if (turn.gaveWay) throw new GaveWayError();
    if (!deadline.isOver) throw error;
    throw new IngestError('timeout', 'Rendering the page took too long.', { cause: error });
  } finally {
    deadline.clear();
    turn.clear();
  }
}

async function render(
  { storage, parser, chunks }: RenderParts,
  { id: { generation, page, chunk }, content, callerId }: Rendering,
  signal: AbortSignal,
): Promise<Buffer> {
  const [marked] = chunk === null ? [] : await chunks.readTexts(generation, chunk, 1);
  const boxes = (marked?.location?.boxes ?? []).filter((box: Box) => box.page === page);
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
