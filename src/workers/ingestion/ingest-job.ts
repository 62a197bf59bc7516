import type { AttachmentLimits, Receipt } from '../../readers/index.js';
import { BATCH_SIZE, batchCount } from '../../shared/batches.js';
import type { Chunks } from '../../shared/chunks/chunks.js';
import { textHash, type ChunkAddress } from '../../shared/chunks/fields.js';
import { searchedText, titleOf } from '../../shared/chunks/searched-text.js';
import {
  callerOf,
  generationId,
  type Content,
  type DocumentRecord,
  type Extraction,
} from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import {
  isCurrent,
  latestAttempts,
  READING_SHARE,
  noteExtraction,
  reportProgress,
  startAttempt,
  type Fence,
} from '../../shared/documents/transitions.js';
import { IngestError } from '../../shared/errors.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import { traced } from '../../shared/tracing/tracing.js';
import type { Outcome } from '../lane-worker.js';
import type { ParsedDocument } from '../parse/parse-and-chunk.js';
import { removeAttachments } from '../parse/take-attachments.js';
import type { MakeAttachments } from './attachments/make-attachments.js';
import type { FailDocument } from './fail-document.js';
import type { ReadContent } from './read-source.js';
import type { Room } from './room/room.js';
import { marksOf, shownWhenPublished, writeAllTags } from './write-tags.js';

interface Attachments {
  /** Returns the files within a document that become documents. */
  readonly limitsOf: (record: DocumentRecord) => AttachmentLimits | undefined;
  readonly make: MakeAttachments;
}

interface IngestParts {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly readContent: ReadContent;
  readonly room: Room;
  readonly failDocument: FailDocument;
  /** Null where files that a document carries are never read. */
  readonly attachments: Attachments | null;
}

/** One attempt at ingesting a version, with its generation. */
type Run = Required<Fence>;

interface Call {
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** After how many milliseconds its parser is given to another caller's file that waits; never without it. */
  readonly givesWayAfter?: number | undefined;
}

/** Parses and chunks a document's pending content, then hands its chunks to embedding in batches. */
export function createIngestJob(parts: IngestParts) {
  const { records } = parts;
  return async (fence: Fence, { requestId, signal, givesWayAfter }: Call): Promise<Outcome> => {
    const known = await records.read(fence.documentId);
    // A run that is over must not reserve room for a run that is still to come.
    if (!known || !isCurrent(known, fence)) return 'stale';
    const refused = await refuseAgain(parts, known, fence);
    if (refused) return refused;
    const written = await writtenBefore(parts, known);
    if (written > 0) {
      await handOver(parts, known, {
        run: { ...fence, generation: generationId(known) },
        pieces: written,
        requestId,
      });
      return 'done';
    }
    const start = (each: DocumentRecord) => startAttempt(each, fence);
    const { record, changed } = await records.update(fence.documentId, start, known);
    if (!record?.pending || !changed) return 'stale';
    const run = { ...fence, generation: generationId(record) };
    const reading = { record, content: record.pending, run, givesWayAfter };
    const read = await readDocument(parts, reading, signal);
    if (typeof read === 'string') return read;
    try {
      return await writeDocument(parts, record, { run, read, requestId });
    } finally {
      await removeAttachments(read.attachments);
    }
  };
}

/** Makes documents of a document's attachments, writes its own texts, and has them embedded. */
async function writeDocument(
  parts: IngestParts,
  record: DocumentRecord,
  { run, read, requestId }: { run: Run; read: ParsedDocument; requestId: string },
): Promise<Outcome> {
  const receipt = parts.attachments
    ? await parts.attachments.make(record, { ...read, run, requestId })
    : read.receipt;
  const noted = receipt && (await noteReceipt(parts.records, record, { run, receipt }));
  if (!noted) return 'stale';
  const write = () => writeTexts(parts, noted, { run, read: { ...read, receipt } });
  if (!(await traced('write texts', {}, write))) return 'stale';
  await handOver(parts, noted, { run, pieces: read.chunks.length, requestId });
  return 'done';
}

/**
 * Returns the number of chunks whose texts an earlier run of the job has written: all or none. They are neither read nor
 * written again, since their terms may be counted already, and the file may have another name by now.
 */
async function writtenBefore({ chunks }: IngestParts, known: DocumentRecord): Promise<number> {
  if (known.status !== 'processing') return 0;
  return (await chunks.generation(generationId(known)))?.chunks ?? 0;
}

/** A document that waits for room stays queued meanwhile. Resolves with null once it may be read. */
async function refuseAgain(
  { room, failDocument }: Pick<IngestParts, 'room' | 'failDocument'>,
  known: DocumentRecord,
  fence: Fence,
): Promise<Outcome | null> {
  try {
    await room.reserveAgain(known);
    return null;
  } catch (error) {
    if (!(error instanceof IngestError)) throw error;
    return failDocument(fence, { code: error.code, message: error.message, stage: 'parsing' });
  }
}

interface Reading extends Pick<Call, 'givesWayAfter'> {
  readonly record: DocumentRecord;
  readonly content: Content;
  readonly run: Run;
}

/** Resolves with the document's chunks, or with the outcome of the job when there is nothing to write. */
async function readDocument(
  { records, readContent, room, failDocument, ...parts }: IngestParts,
  { record, content, run, givesWayAfter }: Reading,
  signal: AbortSignal,
): Promise<ParsedDocument | Outcome> {
  const watch = watchReading(records, run, signal);
  try {
    const attachments = parts.attachments?.limitsOf(record);
    const { signal: ending, onProgress } = watch;
    const by = { callerId: callerOf(record), signal: ending };
    const options = { ...by, onProgress, attachments, givesWayAfter };
    const attributes = { 'quire.content_type': content.contentType, 'quire.bytes': content.sizeBytes };
    const read = await traced('parse', { attributes }, async (span) => {
      const parsed = await readContent(content, options);
      span.set({ 'quire.chunks': parsed.chunks.length });
      return parsed;
    });
    try {
      await room.reserve(record, read.chunks);
    } catch (error) {
      await removeAttachments(read.attachments);
      throw error;
    }
    return read;
  } catch (error) {
    if (watch.signal.aborted && !signal.aborted) return 'stale';
    if (!(error instanceof IngestError)) throw error;
    return await failDocument(run, { code: error.code, message: error.message, stage: 'parsing' });
  } finally {
    watch.stop();
  }
}

/** Resolves with the record that says how a file was read, or with null when the attempt was superseded in the meantime. */
async function noteReceipt(
  records: Records,
  record: DocumentRecord,
  { run, receipt }: { run: Run; receipt: Receipt },
): Promise<DocumentRecord | null> {
  if (record.pending?.kind === 'text') return record;
  const extraction = summaryOf(receipt);
  const gaps = receipt.gap_count;
  const note = (each: DocumentRecord) => noteExtraction(each, { ...run, gaps, extraction });
  const { record: noted, changed } = await records.update(run.documentId, note, record);
  return changed ? noted : null;
}

function summaryOf(receipt: Receipt): Extraction {
  const { parser, title, language, mail, unit, parts, parts_read: partsRead, ocr } = receipt;
  const summary = { parser, title, language, unit, parts, partsRead, ocrPages: ocr.pages };
  return mail ? { ...summary, mail } : summary;
}

/** Has texts that are written embedded. */
async function handOver(
  { records, jobs, room }: IngestParts,
  record: DocumentRecord,
  { run, pieces, requestId }: { run: Run; pieces: number; requestId: string },
): Promise<void> {
  await room.spend(record, 1);
  const batches = batchCount(pieces);
  if (batches > 1) {
    const progress = { ...run, stage: 'embedding', progress: READING_SHARE };
    await records.update(run.documentId, (each) => reportProgress(each, progress));
  }
  const numbers = Array.from({ length: batches }, (_, batch) => batch);
  await jobs.addEmbeds(run, numbers, { total: batches, callerId: callerOf(record), requestId });
}

/** Resolves with false when the attempt was superseded in the meantime. */
async function writeTexts(
  { records, chunks }: Pick<IngestParts, 'records' | 'chunks'>,
  known: DocumentRecord,
  { run, read }: { run: Run; read: ParsedDocument },
): Promise<boolean> {
  const { generation } = run;
  const likes = await knownTexts(chunks, known);
  const hashed = read.chunks.map((piece) => {
    const hash = textHash(searchedText(piece, titleOf(known.pending)).text);
    return { ...piece, hash, like: likes.get(hash) ?? null };
  });
  let record = known;
  for (let first = 0; first < hashed.length;) {
    const batch = { documentId: record.id, generation, first, ...marksOf(shownWhenPublished(record)) };
    const some = hashed.slice(first, first + BATCH_SIZE);
    const done = await chunks.writeTexts({ ...batch, chunks: some }, record.revision);
    if (done === 'refused') return false;
    if (done === 'written') {
      first += BATCH_SIZE;
      continue;
    }
    // The record was changed; the chunks that follow are written with its newest tags.
    const current = await records.read(record.id);
    if (!current || !isCurrent(current, run)) return false;
    record = current;
  }
  return closeTexts({ records, chunks }, known, { generation, read });
}

/** Resolves with false for a generation that was discarded, or a document that was removed. */
async function closeTexts(
  { records, chunks }: Pick<IngestParts, 'records' | 'chunks'>,
  known: DocumentRecord,
  { generation, read }: { generation: string; read: ParsedDocument },
): Promise<boolean> {
  const { chunks: pieces, receipt } = read;
  const tokens = pieces.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  // From now on a change of tags finds a closed generation and rewrites it. Earlier changes are applied here.
  if (!(await chunks.close(generation, { chunks: pieces.length, tokens, receipt }))) return false;
  const current = await records.read(known.id);
  if (current === null || current.revision === known.revision) return true;
  const count = pieces.length;
  return writeAllTags({ records, chunks }, current, { generation, count, shownBy: shownWhenPublished });
}

/** Reads the hashes of texts in earlier generations, published or abandoned, whose vectors can be reused. */
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

const WATCH_MILLISECONDS = 1_000;

/**
 * Watches an attempt while its file is read. Once a second, it writes how far the parser is. Its signal also aborts when the
 * attempt is cancelled, deleted or superseded, so that no parser works on a result that is no longer needed.
 */
function watchReading(
  records: Pick<Records, 'read' | 'update'>,
  fence: Required<Fence>,
  stopping: AbortSignal,
) {
  const controller = new AbortController();
  let share = 0;
  const abort = () => {
    controller.abort(stopping.reason);
  };
  // `AbortSignal.any` is not used: it would leave a reference at the worker's signal for each document.
  stopping.addEventListener('abort', abort, { once: true });
  if (stopping.aborted) abort();
  let told = 0;
  const look = async () => {
    const news = share;
    const isNews = news > told;
    const report = { ...fence, stage: 'parsing', progress: READING_SHARE * news };
    const record = isNews
      ? (await records.update(fence.documentId, (each) => reportProgress(each, report))).record
      : await records.read(fence.documentId);
    if (isNews) told = news;
    if (!record || !isCurrent(record, fence)) abort();
  };
  const timer = setInterval(() => {
    // A failure does no harm: the check is repeated, and the next write checks the attempt itself.
    look().catch(() => undefined);
  }, WATCH_MILLISECONDS);
  return {
    signal: controller.signal,
    /** @param read which share of the document's parts is read, from 0 to 1 */
    onProgress: (read: number): void => {
      share = read;
    },
    stop: () => {
      clearInterval(timer);
      stopping.removeEventListener('abort', abort);
    },
  };
}
