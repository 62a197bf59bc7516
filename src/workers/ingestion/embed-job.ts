import { at } from '../../shared/at.js';
import { batchNumbers } from '../../shared/batches.js';
import type { Chunks } from '../../shared/chunks/chunks.js';
import { nameMark, type StoredChunk, type TextVector } from '../../shared/chunks/fields.js';
import { namingOf, searchedTerms, searchedText } from '../../shared/chunks/searched-text.js';
import { generationId, type DocumentRecord } from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import {
  statisticsOwner,
  isCurrent,
  publish,
  READING_SHARE,
  reportProgress,
  withLaterGaps,
  type Fence,
} from '../../shared/documents/transitions.js';
import type { Receipt } from '../../readers/index.js';
import { IngestError } from '../../shared/errors.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import type { TermStatisticsStore } from '../../shared/term-statistics/term-statistics.js';
import type { Outcome } from '../lane-worker.js';
import { embedMeasured, type EmbedPiecesParts } from './embed-pieces.js';
import type { FailDocument } from './fail-document.js';
import type { PrepareMirrors } from './prepare-mirrors.js';
import type { Publish } from './publish.js';
import type { Room } from './room/room.js';
import { updateTermCounts } from './update-term-counts.js';
import { shownWhenPublished, writeAllTags } from './write-tags.js';

interface Batch extends Fence {
  readonly batch: number;
  readonly batches: number;
}

interface Dependencies extends EmbedPiecesParts {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly statistics: TermStatisticsStore;
  readonly failDocument: FailDocument;
  readonly prepareMirrors: PrepareMirrors;
  readonly publish: Publish;
  readonly metrics: WorkerMetrics;
  readonly room: Pick<Room, 'spend'>;
}

/** Embeds one batch of an attempt's chunks and counts its terms. The job that finishes the last batch publishes. */
export function createEmbedJob(parts: Dependencies) {
  const { records, chunks, statistics, failDocument } = parts;

  return async (job: Batch, { signal }: { signal: AbortSignal }): Promise<Outcome> => {
    const record = await records.read(job.documentId);
    if (!record || !isCurrent(record, job)) return 'stale';
    const generation = generationId(record);
    const [info, isFinished] = await Promise.all([
      chunks.generation(generation),
      chunks.isFinished(generation, job.batch),
    ]);
    if (!info) return 'stale';
    const run = { ...job, generation };
    const numbers = batchNumbers(job.batch, info.chunks);
    try {
      // A finished batch stays: its terms are counted, and may hold another name of the file than the record has by now.
      if (!isFinished && !(await embedBatch(parts, record, { job, numbers, signal }))) return 'stale';
    } catch (error) {
      if (!(error instanceof IngestError)) throw error;
      return failDocument(run, { code: error.code, message: error.message, stage: 'embedding' });
    }
    await updateTermCounts({ records, statistics }, run, () => chunks.readTerms(generation, numbers));
    const left = await chunks.finishBatch(generation, { batch: job.batch, of: job.batches });
    if (left === null) return 'stale';
    return left === 0 ? publishGeneration(parts, record) : progress(parts, record, { job: run, left });
  };
}

/** Writes the vectors and terms of a batch. Resolves with false for a generation that was discarded. */
async function embedBatch(
  parts: Pick<Dependencies, 'chunks'> & EmbedPiecesParts,
  record: DocumentRecord,
  { job, numbers, signal }: { job: Batch; numbers: readonly number[]; signal: AbortSignal },
): Promise<boolean> {
  const { chunks } = parts;
  const generation = generationId(record);
  const stored = await chunks.readTexts(generation, at(numbers, 0), numbers.length);
  // A document must not be published with chunks missing. After this job has given up, the sweep begins another attempt.
  if (stored.length < numbers.length) throw new Error('texts of a batch are missing');
  const naming = namingOf(record.pending);
  const texts = stored.map((chunk) => ({ ...chunk, searched: searchedText(chunk, naming.title) }));
  const embedded = await embedTexts(parts, texts, signal);
  const rows = texts.map((chunk, i) => ({
    ...at(embedded, i),
    number: chunk.number,
    terms: searchedTerms(chunk, naming),
  }));
  const named = nameMark(naming.filename);
  const written = { batch: job.batch, chunks: rows, owner: statisticsOwner(record), named };
  if (rows.some(({ inParts }) => inParts)) await chunks.noteInParts(generation);
  return chunks.writeEmbedded(generation, written);
}

async function progress(
  { records, room }: Pick<Dependencies, 'records' | 'room'>,
  record: DocumentRecord,
  { job, left }: { readonly job: Batch; readonly left: number },
): Promise<Outcome> {
  await room.spend(record, left / job.batches);
  const done = (job.batches - left) / job.batches;
  const report = { ...job, stage: 'embedding', progress: READING_SHARE + (1 - READING_SHARE) * done };
  await records.update(job.documentId, (each) => reportProgress(each, report));
  return 'done';
}

async function publishGeneration(
  { records, chunks, prepareMirrors, publish: commit, metrics }: Dependencies,
  record: DocumentRecord,
): Promise<Outcome> {
  const { id: documentId, version, attempt } = record;
  const generation = generationId(record);
  const info = await chunks.generation(generation);
  if (!info) return 'stale';
  const { chunks: chunkCount, tokens: tokenCount, inParts } = info;
  const laterGaps = inParts ? 1 : 0;
  await prepareMirrors(record, chunkCount);
  const fence = { documentId, version, attempt, generation };
  // The tags are usually written already, unless they changed before all texts were written, or embedding brought a gap.
  const shownBy = (of: DocumentRecord) => shownWhenPublished(withLaterGaps(of, laterGaps));
  const tags = { generation, count: chunkCount, shownBy };
  if (!(await writeAllTags({ records, chunks }, record, tags))) return 'stale';
  const isPublished = await commit(record, (each) =>
    publish(each, { ...fence, chunkCount, tokenCount, laterGaps }),
  );
  if (!isPublished) return 'stale';
  if (record.pending?.gaps || inParts) countGaps(metrics, await chunks.receipt(generation));
  return 'published';
}

/** Counts the gaps of a file that searches can find now. */
function countGaps(metrics: WorkerMetrics, receipt: Receipt | null): void {
  for (const [reason, count] of Object.entries(receipt?.gap_counts ?? {}))
    metrics.add('quire_extraction_gaps_total', { reason }, count);
}

interface SearchedChunk extends Pick<StoredChunk, 'like'> {
  readonly searched: { readonly text: string; readonly tokens: number };
}

/** Reuses vectors of earlier generations, and embeds the other texts. */
async function embedTexts(
  parts: Pick<Dependencies, 'chunks'> & EmbedPiecesParts,
  texts: readonly SearchedChunk[],
  signal: AbortSignal,
): Promise<readonly TextVector[]> {
  const reused = await readReused(parts, texts);
  const missing = texts.filter((_, i) => !reused[i]).map(({ searched }) => searched);
  const made = missing.length > 0 ? await embedMeasured(parts, missing, signal) : [];
  let next = 0;
  return reused.map((known) => known ?? at(made, next++));
}

/** The vectors that chunks of earlier generations have of the same texts; null where there is none. */
async function readReused(
  { chunks }: Pick<Dependencies, 'chunks'>,
  texts: readonly SearchedChunk[],
): Promise<(TextVector | null)[]> {
  const alike = texts.flatMap(({ like }) => (like ? [like] : []));
  const vectors = await chunks.readVectors(alike);
  const inParts = await chunks.readInParts(alike);
  return texts.map(({ like }) => {
    const place = like ? alike.indexOf(like) : -1;
    const vector = vectors[place];
    return vector ? { vector, inParts: inParts[place] === true } : null;
  });
}
