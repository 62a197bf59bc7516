import { INDEXED_AT_ONCE } from '../../shared/batches.js';
import type { ChunkText, TextVector } from '../../shared/chunks/fields.js';
import { wholeWrite } from '../../shared/chunks/write-chunks.js';
import type { VectorSet } from '../../shared/data-set/stored-vectors.js';
import { generationId, type Content, type DocumentRecord } from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import {
  statisticsOwner,
  isCurrent,
  publish,
  withLaterGaps,
  type Fence,
} from '../../shared/documents/transitions.js';
import { IngestError } from '../../shared/errors.js';
import { MAX_SHORT_BYTES } from '../../shared/storage/sources.js';
import { sumTerms, TERMS_AT_ONCE } from '../../shared/term-statistics/count-steps.js';
import { traced } from '../../shared/tracing/tracing.js';
import type { Outcome } from '../lane-worker.js';
import { embedPieces, countLaterGaps, gapsOf, wholeChunks, type EmbedPiecesParts } from './embed-pieces.js';
import type { FailDocument } from './fail-document.js';
import type { Publish } from './publish.js';
import { marksOf, shownWhenPublished } from './write-tags.js';

interface Dependencies extends EmbedPiecesParts {
  readonly records: Records;
  /** The vectors that searches use. */
  readonly vectors: VectorSet;
  /** Reads a short text and cuts it into chunks. @throws IngestError when there are none */
  readonly readText: (content: Content) => Promise<readonly ChunkText[]>;
  readonly failDocument: FailDocument;
  readonly publish: Publish;
  /** @throws UnavailableError while Redis is short of memory */
  readonly requireMemory: () => Promise<void>;
}

export type IngestShort = ReturnType<typeof createIngestShort>;

/**
 * Ingests a short text in one job, for embedders that run in this process. This saves a job, a child process and two
 * changes of the record. Everything is computed first, and then written in the step that publishes it, so the record stays
 * queued until then, even if the process dies. Resolves with null for documents that have to pass the embedding queue:
 * files, long texts, and documents that an earlier run has sent there.
 */
export function createIngestShort(parts: Dependencies) {
  const { records, readText, failDocument } = parts;
  return async (
    fence: Fence,
    known: DocumentRecord,
    { signal }: { signal: AbortSignal },
  ): Promise<Outcome | null> => {
    const content = known.pending;
    if (!content || !isCurrent(known, fence)) return 'stale';
    if (content.kind !== 'text' || content.sizeBytes > MAX_SHORT_BYTES) return null;
    const run = { ...fence, generation: generationId(known) };
    let stage = 'parsing';
    let made: Made;
    try {
      const pieces = await traced('chunk', {}, () => readText(content));
      if (pieces.length > INDEXED_AT_ONCE) return null;
      stage = 'embedding';
      made = { pieces, vectors: await embedPieces(parts, pieces, signal) };
    } catch (error) {
      if (!(error instanceof IngestError)) throw error;
      return failDocument(run, { code: error.code, message: error.message, stage });
    }
    for (let record: DocumentRecord | null = known; ; record = await records.read(fence.documentId)) {
      if (!record || !isCurrent(record, run)) return 'stale';
      if (record.status !== 'queued') return null;
      // Otherwise its access, metadata or name was changed in the meantime, and the fields that follow from these are
      // computed again.
      const done = await writeAndPublish(parts, record, made);
      if (done !== 'changed') return done;
    }
  };
}

interface Made {
  readonly pieces: readonly ChunkText[];
  readonly vectors: readonly TextVector[];
}

/** Resolves with null for a text with more terms than one step counts. Only the other way counts in several steps. */
async function writeAndPublish(
  { vectors, metrics, requireMemory, publish: commit }: Dependencies,
  record: DocumentRecord,
  made: Made,
): Promise<'published' | 'changed' | null> {
  const laterGaps = gapsOf(made.vectors);
  const shown = shownWhenPublished(withLaterGaps(record, laterGaps));
  const whole = wholeChunks(made.pieces, { vectors: made.vectors, naming: shown.naming });
  const terms = sumTerms(whole.map((chunk) => chunk.terms));
  if (terms.terms.length > TERMS_AT_ONCE) return null;
  const generation = generationId(record);
  const { id: documentId, version, attempt, revision } = record;
  const tokenCount = whole.reduce((sum, chunk) => sum + chunk.tokenCount, 0);
  const owner = statisticsOwner(record);
  const marks = marksOf(shown);
  const text = { documentId, generation, chunks: whole, ...marks, tokens: tokenCount, terms, owner };
  const write = wholeWrite(vectors, text);
  await requireMemory();
  const counts = { chunkCount: whole.length, tokenCount, laterGaps };
  const isPublished = await commit(record, (each) => {
    const fence = { documentId, version, attempt, generation };
    const change = each.revision === revision ? publish(each, { ...fence, ...counts }) : null;
    return change && { ...change, whole: write };
  });
  if (!isPublished) return 'changed';
  countLaterGaps(metrics, laterGaps);
  return 'published';
}
