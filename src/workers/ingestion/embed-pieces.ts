import { textHash, type ChunkText, type WholeChunk } from '../../shared/chunks/fields.js';
import { searchedTerms, type Naming } from '../../shared/chunks/searched-text.js';
import type { Embedding } from '../../shared/models/embedding.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';

export interface EmbedPiecesParts {
  readonly embedding: Pick<Embedding, 'embedDocuments'>;
  readonly metrics: Pick<WorkerMetrics, 'add'>;
  /** @throws UnavailableError when the vectors have other dimensions than the data */
  readonly checkDimensions: (dimensions: number) => Promise<void>;
}

/**
 * Makes vectors of the chunks of a short text. Null where a chunk was embedded in parts: short texts that are ingested in one
 * step have no receipt that could say so. @throws IngestError, UnavailableError
 */
export async function embedPieces(
  { embedding, metrics, checkDimensions }: EmbedPiecesParts,
  pieces: readonly ChunkText[],
  signal: AbortSignal,
): Promise<readonly Float32Array[] | null> {
  const texts = pieces.map(({ text, tokenCount }) => ({ text, tokens: tokenCount }));
  const { vectors, tokens, inParts } = await embedding.embedDocuments(texts, { signal });
  if (vectors[0]) await checkDimensions(vectors[0].length);
  metrics.add('quire_embedded_chunks_total', {}, pieces.length);
  metrics.add('quire_embedded_tokens_total', {}, tokens);
  return inParts.includes(true) ? null : vectors;
}

/** Adds to the chunks of a short text what they have beside their vectors: hashes and terms. */
export function wholeChunks(
  pieces: readonly ChunkText[],
  { vectors, naming }: { readonly vectors: readonly Float32Array[]; readonly naming: Naming },
): readonly WholeChunk[] {
  return pieces.map((piece, number) => {
    const vector = vectors[number];
    if (!vector) throw new Error('the embedder returned too few vectors');
    const terms = searchedTerms(piece, naming);
    return { ...piece, hash: textHash(piece.text), like: null, number, vector, terms };
  });
}
