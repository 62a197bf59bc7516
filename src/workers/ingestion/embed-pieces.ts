import { at } from '../../shared/at.js';
import { textHash, type ChunkText, type TextVector, type WholeChunk } from '../../shared/chunks/fields.js';
import { searchedTerms, type Naming } from '../../shared/chunks/searched-text.js';
import { EMBEDDED_IN_PARTS } from '../../shared/chunks/stored-receipt.js';
import type { MeasuredText, Embedding } from '../../shared/models/embedding.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import { traced } from '../../shared/tracing/tracing.js';

export interface EmbedPiecesParts {
  readonly embedding: Pick<Embedding, 'embedDocuments'>;
  readonly metrics: Pick<WorkerMetrics, 'add'>;
  /** @throws UnavailableError when the vectors have other dimensions than the data */
  readonly checkDimensions: (dimensions: number) => Promise<void>;
}

/** Makes vectors of texts, and counts them. @throws IngestError, UnavailableError */
export async function embedMeasured(
  { embedding, metrics, checkDimensions }: EmbedPiecesParts,
  texts: readonly MeasuredText[],
  signal: AbortSignal,
): Promise<readonly TextVector[]> {
  const attributes = { 'quire.chunks': texts.length };
  const embed = () => embedding.embedDocuments(texts, { signal });
  const { vectors, tokens, inParts } = await traced('embed', { attributes }, embed);
  if (vectors[0]) await checkDimensions(vectors[0].length);
  metrics.add('quire_embedded_chunks_total', {}, texts.length);
  metrics.add('quire_embedded_tokens_total', {}, tokens);
  return texts.map((_, i) => {
    const vector = vectors[i];
    if (!vector) throw new Error('the embedder returned too few vectors');
    return { vector, inParts: inParts[i] === true };
  });
}

/** Makes vectors of the chunks of a short text. @throws IngestError, UnavailableError */
export const embedPieces = (
  parts: EmbedPiecesParts,
  pieces: readonly ChunkText[],
  signal: AbortSignal,
): Promise<readonly TextVector[]> =>
  embedMeasured(
    parts,
    pieces.map(({ text, tokenCount }) => ({ text, tokens: tokenCount })),
    signal,
  );

/** The gaps that embedding has brought a document: one where any of its chunks is longer than the model reads. */
export const gapsOf = (chunks: readonly Partial<TextVector>[]): number =>
  chunks.some(({ inParts }) => inParts) ? 1 : 0;

/** Counts gaps that embedding has brought documents which have no others. */
export function countLaterGaps(metrics: Pick<WorkerMetrics, 'add'>, gaps: number): void {
  if (gaps > 0) metrics.add('quire_extraction_gaps_total', { reason: EMBEDDED_IN_PARTS.reason }, gaps);
}

/** Adds hashes, vectors and terms to the chunks of a short text. */
export function wholeChunks(
  pieces: readonly ChunkText[],
  { vectors, naming }: { readonly vectors: readonly TextVector[]; readonly naming: Naming },
): readonly WholeChunk[] {
  return pieces.map((piece, number) => {
    const { vector, inParts } = at(vectors, number);
    const terms = searchedTerms(piece, naming);
    return { ...piece, hash: textHash(piece.text), like: null, number, vector, inParts, terms };
  });
}
