import { shownContent, type Metadata } from '../../../shared/document.js';
import type { Hit } from '../../../shared/search/hits.js';
import type { Lease } from './answer-memory.js';
import { heldSize } from './memory-estimate.js';

/** Of a chunk's own, beside its text: names, numbers, the address to download from. */
const CHUNK_BYTES = 500;

export interface FoundChunk {
  readonly content: string;
  readonly score: number;
  readonly documentId: string;
  readonly chunkNumber: number;
  readonly metadata: Metadata;
  readonly contentType: string;
  /** Null for a text, as the address is. */
  readonly filename: string | null;
  readonly downloadUrl: string | null;
}

/** What of a hit an answer needs: its record's access lists may be long, and are not held on to. */
export function toFoundChunk({ record, number, content, score }: Hit, url: string | null): FoundChunk {
  const { contentType, kind, filename } = shownContent(record);
  return {
    content,
    score,
    documentId: record.id,
    chunkNumber: number,
    metadata: record.metadata,
    contentType,
    filename: kind === 'file' ? filename : null,
    downloadUrl: url,
  };
}

/** Gives out results one by one, and with each the memory that it held. */
export async function* giveOut(results: FoundChunk[], lease: Lease): AsyncGenerator<FoundChunk> {
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

/** Metadata is shared by all chunks of a document: it goes with the last of them. */
function sizesOf(results: readonly FoundChunk[]): number[] {
  const last = new Map(results.map(({ metadata }, i) => [metadata, i]));
  return results.map(
    ({ content, metadata }, i) =>
      CHUNK_BYTES + heldSize(content) + (last.get(metadata) === i ? heldSize(metadata) : 0),
  );
}
