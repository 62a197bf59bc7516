import { StringDecoder } from 'node:string_decoder';
import { BATCH_SIZE } from '../../../shared/batches.js';
import { trimsChunks } from '../../../shared/chunking.js';
import { freshText } from '../../../shared/chunks/fields.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { Content } from '../../../shared/document.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../../../shared/ports.js';

/** Longer texts are not held in memory: they are read while they are sent. */
export const MAX_HELD_BYTES = 64 * 1024;

/** The text of a document's content in parts, which are read on demand. */
export type TextParts = AsyncIterable<string>;

export interface SourceTexts {
  /**
   * Opens the whole text of a content that was ingested as text. When its source is lost, the text is assembled from the
   * published chunks, which contain all of it except white space at both ends. Null when the chunks are gone as well.
   * @throws UnavailableError while the storage is away
   */
  open(documentId: string, content: Content): Promise<TextParts | null>;
}

export function createSourceTexts({
  storage,
  chunks,
  logger,
}: {
  readonly storage: Pick<ObjectStorage, 'open'>;
  readonly chunks: Pick<Chunks, 'readTexts'>;
  readonly logger: Logger;
}): SourceTexts {
  return {
    open: async (documentId, content) => {
      const { storageKey, generation, chunkCount } = content;
      try {
        return decode(await storage.open(storageKey));
      } catch (error) {
        if (!(error instanceof MissingObjectError)) throw error;
        logSourceMissing(logger, { documentId, storageKey });
      }
      const first = generation === null ? [] : await chunks.readTexts(generation, 0, 1);
      return first.length === 0 || generation === null
        ? null
        : joined(chunks, { generation, chunkCount, isTrimmed: trimsChunks(content.chunking) });
    },
  };
}

/** Logs that the storage does not have an object that a record refers to. Operators have to know that data is lost. */
export function logSourceMissing(logger: Logger, facts: { documentId: string; storageKey: string }): void {
  logger.error(facts, 'the source of a document is missing');
}

async function* decode(bytes: AsyncIterable<Uint8Array>): TextParts {
  const decoder = new StringDecoder('utf8');
  for await (const part of bytes) yield decoder.write(part);
  yield decoder.end();
}

async function* joined(
  chunks: Pick<Chunks, 'readTexts'>,
  { generation, chunkCount, isTrimmed }: { generation: string; chunkCount: number; isTrimmed: boolean },
): TextParts {
  for (let first = 0; first < chunkCount; first += BATCH_SIZE) {
    const count = Math.min(BATCH_SIZE, chunkCount - first);
    const batch = await chunks.readTexts(generation, first, count);
    // The chunks were replaced in the meantime; the reader looks at the record again.
    if (batch.length < count) throw new MissingObjectError(generation);
    for (const [i, chunk] of batch.entries()) yield freshText(chunk, { isTrimmed, isFirst: first + i === 0 });
  }
}

/** A string of a response that is too long to be held in memory. Its parts are read while they are sent. */
export class StreamedText {
  readonly parts: AsyncIterable<string>;

  constructor(parts: AsyncIterable<string>) {
    this.parts = parts;
  }
}
