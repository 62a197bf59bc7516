import { sumTerms, type BatchTerms } from '../../../shared/term-statistics/parts.js';
import type { PreparedText } from './prepare-texts.js';

/** How much one step publishes, so that it holds Redis up for some milliseconds. */
export interface StepLimits {
  readonly chunks: number;
  readonly bytes: number;
  readonly terms: number;
}

/** Takes as many texts from the front as one step may publish, at least one. All of them belong to the same user. */
export function nextStep(
  prepared: readonly PreparedText[],
  limits: StepLimits,
): { readonly texts: readonly PreparedText[]; readonly terms: BatchTerms } {
  const first = prepared[0];
  const terms = new Set<number>();
  let [chunks, bytes, count] = [0, 0, 0];
  for (const text of prepared) {
    chunks += text.published.whole.chunks.length;
    bytes += text.bytes;
    for (const term of text.terms) terms.add(term);
    const isOver = chunks > limits.chunks || bytes > limits.bytes || terms.size > limits.terms;
    if (count > 0 && (isOver || text.owner !== first?.owner || text.userId !== first.userId)) break;
    count += 1;
  }
  const texts = prepared.slice(0, count);
  const packed = texts.flatMap(({ published }) => published.whole.chunks.map((chunk) => chunk.terms));
  return { texts, terms: sumTerms(packed) };
}
