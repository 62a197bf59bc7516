import { textHash, type ChunkAddress, type ChunkText } from '../shared/chunk-fields.js';
import { BATCH_SIZE, batchCount } from '../shared/batches.js';
import type { Chunks } from '../shared/chunks.js';
import { generationId, type Content, type DocumentRecord } from '../shared/document.js';
import { IngestError } from '../shared/errors.js';
import { callerOf, type Jobs } from '../shared/jobs.js';
import type { Records } from '../shared/records.js';
import {
  isCurrent,
  latestAttempts,
  reportProgress,
  startAttempt,
  type Fence,
} from '../shared/transitions.js';
import type { FailDocument } from './fail.js';
import type { IngestShort } from './ingest-short.js';
import type { ReserveRoom } from './room.js';
import { tagsWhenPublished, writeAllTags } from './tags.js';
import type { Outcome } from './worker.js';

/** @throws IngestError when the bytes yield no chunks */
export type ReadContent = (
  content: Content,
  options: { readonly callerId: string; readonly signal: AbortSignal },
) => Promise<readonly ChunkText[]>;

/** Parses and chunks a document's pending content, then hands its chunks to embedding in batches. */
export function createIngestJob(parts: {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly readContent: ReadContent;
  readonly reserveRoom: ReserveRoom;
  readonly failDocument: FailDocument;
  /** Null where embedding may take its time, or fail for a while. */
  readonly ingestShort: IngestShort | null;
}) {
  const { records, jobs, readContent, reserveRoom, failDocument, ingestShort } = parts;

  return async (
    fence: Fence,
    { requestId, signal }: { requestId: string; signal: AbortSignal },
  ): Promise<Outcome> => {
    const known = await records.read(fence.documentId);
    if (!known) return 'stale';
    const outcome = await ingestShort?.(fence, known, { signal });
    if (outcome) return outcome;
    const start = (each: DocumentRecord) => startAttempt(each, fence);
    const { record, changed } = await records.update(fence.documentId, start, known);
    if (!record?.pending || !changed) return 'stale';
    const run = { ...fence, generation: generationId(record) };
    let pieces: readonly ChunkText[];
    const watch = watchForOvertaking(records, run, signal);
    try {
      pieces = await readContent(record.pending, { callerId: callerOf(record), signal: watch.signal });
      await reserveRoom(record, pieces);
    } catch (error) {
      if (watch.signal.aborted && !signal.aborted) return 'stale';
      if (!(error instanceof IngestError)) throw error;
      return await failDocument(run, { code: error.code, message: error.message, stage: 'parsing' });
    } finally {
      watch.stop();
    }
    if (!(await writeChunks(parts, record, { run, pieces }))) return 'stale';
    const batches = batchCount(pieces.length);
    if (batches > 1) {
      const progress = { ...run, stage: 'embedding', progress: 0.1 };
      await records.update(fence.documentId, (each) => reportProgress(each, progress));
    }
    const numbers = Array.from({ length: batches }, (_, batch) => batch);
    await jobs.addEmbeds(fence, numbers, { total: batches, callerId: callerOf(record), requestId });
    return 'done';
  };
}

const WATCH_MILLISECONDS = 1_000;

/**
 * A signal that also aborts when the attempt is cancelled, deleted or superseded, so that no parser is held up by what
 * nobody wants any more.
 */
function watchForOvertaking(records: Records, fence: Fence, stopping: AbortSignal) {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(stopping.reason);
  };
  // Not `AbortSignal.any`, of which something would stay with the worker's own signal for each document.
  stopping.addEventListener('abort', abort, { once: true });
  if (stopping.aborted) abort();
  const look = async () => {
    const record = await records.read(fence.documentId);
    if (!record || !isCurrent(record, fence)) abort();
  };
  const timer = setInterval(() => {
    // A look that fails is made up for by the next one, and by the fence of the step that follows.
    look().catch(() => undefined);
  }, WATCH_MILLISECONDS);
  return {
    signal: controller.signal,
    stop: () => {
      clearInterval(timer);
      stopping.removeEventListener('abort', abort);
    },
  };
}

/** @returns false when the attempt was overtaken meanwhile */
async function writeChunks(
  { records, chunks }: { records: Records; chunks: Chunks },
  known: DocumentRecord,
  { run, pieces }: { run: Fence & { generation: string }; pieces: readonly ChunkText[] },
): Promise<boolean> {
  const { generation } = run;
  const likes = await knownTexts(chunks, known);
  const hashed = pieces.map((piece) => {
    const hash = textHash(piece.text);
    return { ...piece, hash, like: likes.get(hash) ?? null };
  });
  let record = known;
  for (let first = 0; first < hashed.length;) {
    const batch = {
      documentId: record.id,
      generation,
      first,
      chunks: hashed.slice(first, first + BATCH_SIZE),
    };
    const tags = tagsWhenPublished(record);
    const done = await chunks.writeTexts({ ...batch, tags }, record.revision);
    if (done === 'refused') return false;
    if (done === 'written') {
      first += BATCH_SIZE;
      continue;
    }
    // Somebody changed the record: what is written from here on has its newest tags.
    const current = await records.read(record.id);
    if (!current || !isCurrent(current, run)) return false;
    record = current;
  }
  const tokens = pieces.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  // From here on a re-tagging finds the generation closed and does it; one that came before is made up for here.
  if (!(await chunks.close(generation, { chunks: pieces.length, tokens }))) return false;
  const current = await records.read(known.id);
  if (current === null || current.revision === known.revision) return true;
  return writeAllTags({ records, chunks }, current, {
    ...{ generation, count: pieces.length, tagsOf: tagsWhenPublished },
  });
}

/** Texts of the document's earlier generations, published or abandoned: their vectors need not be made again. */
async function knownTexts(chunks: Chunks, record: DocumentRecord): Promise<Map<string, ChunkAddress>> {
  const earlier = latestAttempts(record).slice(0, -1);
  const known = new Map<string, ChunkAddress>();
  for (const generation of [record.published?.generation, ...earlier]) {
    const info = generation ? await chunks.generation(generation) : null;
    if (!generation || !info) continue;
    for (const [hash, address] of await chunks.readHashes(generation, info.chunks)) known.set(hash, address);
  }
  return known;
}
