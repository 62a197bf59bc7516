import { IngestError } from '../errors.js';

/** @throws RangeError for more texts than a request to the provider may have; IngestError for an empty one */
export function checkTexts(texts: readonly string[], maxInputs: number): void {
  if (texts.length > maxInputs) throw new RangeError(`more than ${String(maxInputs)} texts in a request`);
  if (texts.includes('')) throw new IngestError('provider', 'an empty text cannot be embedded');
}

/** Scales a vector to unit length. One that cannot be scaled is the failure of its text alone, not of the whole reply. */
export function toUnitLength(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (!Number.isFinite(norm) || norm === 0) {
    throw new IngestError('provider', 'the embedding provider returned no usable vector');
  }
  return vector.map((value) => value / norm);
}
