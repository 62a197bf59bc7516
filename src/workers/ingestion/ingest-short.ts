import { INDEXED_AT_ONCE } from '../../shared/batches.js';
import type { ChunkText, WholeChunk } from '../../shared/chunks/fields.js';
import { wholeWrite } from '../../shared/chunks/write-whole.js';
import type { VectorSet } from '../../shared/data-set/stored-vectors.js';
import { generationId, type Content, type DocumentRecord } from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import { statisticsOwner, isCurrent, publish, type Fence } from '../../shared/documents/transitions.js';
import { IngestError } from '../../shared/errors.js';
import { MAX_SHORT_BYTES } from '../../shared/storage/short-sources.js';
import { sumTerms, TERMS_AT_ONCE, type BatchTerms } from '../../shared/term-statistics/parts.js';
import type { Outcome } from '../lane-worker.js';
import { embedPieces, wholeChunks, type EmbedPiecesParts } from './embed-pieces.js';
import type { FailDocument } from './fail-document.js';
import type { Publish } from './publish.js';
import { tagsWhenPublished } from './write-tags.js';

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
 * changes of the record. Nothing is written before everything is computed, and then all of it in the step that publishes
 * it, so the record stays queued until then, even if the process dies.
 * Resolves with null for documents that have to pass the embedding queue: files, long texts, and those that an earlier run
 * has sent there.
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
    let whole: readonly WholeChunk[];
    try {
      const pieces = await readText(content);
      if (pieces.length > INDEXED_AT_ONCE) return null;
      stage = 'embedding';
      whole = wholeChunks(pieces, await embedPieces(parts, pieces, signal));
    } catch (error) {
      if (!(error instanceof IngestError)) throw error;
      return failDocument(run, { code: error.code, message: error.message, stage });
    }
    // So many terms are counted in several steps, which only the other way has.
    const terms = sumTerms(whole.map((chunk) => chunk.terms));
    if (terms.terms.length > TERMS_AT_ONCE) return null;
    for (let record: DocumentRecord | null = known; ; record = await records.read(fence.documentId)) {
      if (!record || !isCurrent(record, run)) return 'stale';
      if (record.status !== 'queued') return null;
      // Otherwise its access or metadata was changed in the meantime, and its tags are computed again.
      if (await writeAndPublish(parts, record, { whole, terms })) return 'published';
    }
  };
}

/** Resolves with false when the record has changed. */
async function writeAndPublish(
  { vectors, requireMemory, publish: commit }: Dependencies,
  record: DocumentRecord,
  { whole, terms }: { readonly whole: readonly WholeChunk[]; readonly terms: BatchTerms },
): Promise<boolean> {
  const generation = generationId(record);
  const { id: documentId, version, attempt, revision } = record;
  const tokenCount = whole.reduce((sum, chunk) => sum + chunk.tokenCount, 0);
  const tags = tagsWhenPublished(record);
  const owner = statisticsOwner(record);
  const made = { documentId, generation, chunks: whole, tags, tokens: tokenCount, terms, owner };
  const write = wholeWrite(vectors, made);
  await requireMemory();
  const counts = { chunkCount: whole.length, tokenCount };
  return commit(record, (each) => {
    const fence = { documentId, version, attempt, generation };
    const change = each.revision === revision ? publish(each, { ...fence, ...counts }) : null;
    return change && { ...change, whole: write };
  });
}
