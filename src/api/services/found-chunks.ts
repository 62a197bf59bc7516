import type { Hit } from '../../shared/search.js';
import type { Lease } from './answer-memory.js';
import { heldSize } from './held-size.js';

/** Of a chunk's own, beside its text: names, numbers, the address to download from. */
const CHUNK_BYTES = 500;

export type ChunkResult = ReturnType<typeof toChunkResult>;

/** What of a hit an answer needs: its record's access lists may be long, and are not held on to. */
export function toChunkResult({ record, number, content, score }: Hit, url: string | null) {
  const published = record.published;
  return {
    content,
    score,
    document_id: record.id,
    chunk_number: number,
    metadata: record.metadata,
    content_type: published?.contentType ?? '',
    filename: published?.kind === 'file' ? published.filename : null,
    download_url: url,
  };
}

/** Gives out results one by one, and with each the memory that it held. */
export async function* giveOut(results: ChunkResult[], lease: Lease): AsyncGenerator<ChunkResult> {
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
function sizesOf(results: readonly ChunkResult[]): number[] {
  const last = new Map(results.map(({ metadata }, i) => [metadata, i]));
  return results.map(
    ({ content, metadata }, i) =>
      CHUNK_BYTES + heldSize(content) + (last.get(metadata) === i ? heldSize(metadata) : 0),
  );
}
