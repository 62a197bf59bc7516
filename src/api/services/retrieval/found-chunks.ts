import type { Whereabouts } from '../../../shared/chunks/fields.js';
import { shownContent, type Metadata } from '../../../shared/document.js';
import type { Hit } from '../../../shared/search/request.js';
import { heldSize, type MemoryLease } from '../answer-memory/answer-memory.js';

/** Memory for the fields of a chunk besides its text: names, numbers, its download address. */
const CHUNK_BYTES = 500;

export interface FoundChunk extends Whereabouts {
  readonly content: string;
  readonly score: number;
  readonly documentId: string;
  readonly owner: string;
  readonly chunkNumber: number;
  readonly metadata: Metadata;
  readonly contentType: string;
  /** Null for a text, like the download address. */
  readonly filename: string | null;
  readonly downloadUrl: string | null;
}

/** Keeps the fields of a hit that a response needs, and not its record, whose access lists may be long. */
export function toFoundChunk(hit: Hit, url: string | null): FoundChunk {
  const { record, number, content, location, section, score } = hit;
  const { contentType, kind, filename } = shownContent(record);
  return {
    content,
    score,
    documentId: record.id,
    owner: record.ownerId,
    location,
    section,
    chunkNumber: number,
    metadata: record.metadata,
    contentType,
    filename: kind === 'file' ? filename : null,
    downloadUrl: url,
  };
}

/** Chunks up to this size, as they are sent, are serialized and sent at once, which takes some tenths of a millisecond. */
const MAX_BYTES_AT_ONCE = 128 * 1024;

/**
 * Tells whether the chunks are so small together that they are sent at once. Each is sent with the metadata of its
 * document.
 */
export function areSmall(results: readonly FoundChunk[]): boolean {
  let bytes = 0;
  for (const result of results) {
    bytes += ownSize(result) + heldSize(result.metadata);
    if (bytes > MAX_BYTES_AT_ONCE) return false;
  }
  return true;
}

const ownSize = ({ content, location, section }: FoundChunk): number =>
  CHUNK_BYTES + heldSize(content) + heldSize(location) + heldSize(section);

/** Yields results one by one, and releases the memory of each. */
export async function* giveOut(results: FoundChunk[], lease: MemoryLease): AsyncGenerator<FoundChunk> {
  const sizes = sizesOf(results);
  let held = sizes.reduce((sum, size) => sum + size, 0);
  lease.resize(held);
  results.reverse();
  for (const size of sizes) {
    const result = results.pop();
    if (!result) return;
    yield await Promise.resolve(result);
    held -= size;
    lease.resize(held);
  }
}

/** All chunks of a document share its metadata, which counts with the last of them. */
function sizesOf(results: readonly FoundChunk[]): number[] {
  const last = new Map(results.map(({ metadata }, i) => [metadata, i]));
  return results.map(
    (result, i) => ownSize(result) + (last.get(result.metadata) === i ? heldSize(result.metadata) : 0),
  );
}
