import { packedLength } from '../../../index/index.js';
import type { GroupTerms } from '../../../shared/documents/commit/publish-group.js';
import type { PreparedText } from './prepare-texts.js';

/** The size of one step of publishing, which holds Redis up for some milliseconds. */
export interface StepLimits {
  readonly chunks: number;
  readonly bytes: number;
  readonly terms: number;
}

/** Takes as many texts from the front as one step may publish, at least one. All of them belong to the same user. */
export function nextStep(
  prepared: readonly PreparedText[],
  limits: StepLimits,
): { readonly texts: readonly PreparedText[]; readonly terms: GroupTerms } {
  const first = prepared[0];
  const frequencies = new Map<number, number>();
  let [chunks, bytes, length, count] = [0, 0, 0, 0];
  for (const text of prepared) {
    const { chunks: own } = text.published.whole;
    if (count > 0) {
      const isOver = chunks + own.length > limits.chunks || bytes + text.bytes > limits.bytes;
      if (isOver || text.owner !== first?.owner || text.userId !== first.userId) break;
      if (ownerOf(text) !== ownerOf(first)) break;
      if (frequencies.size + countNew(frequencies, text.terms, limits.terms) > limits.terms) break;
    }
    for (const term of text.terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    chunks += own.length;
    bytes += text.bytes;
    for (const { terms } of own) length += packedLength(terms);
    count += 1;
  }
  return { texts: prepared.slice(0, count), terms: { chunks, length, frequencies } };
}

const ownerOf = ({ published }: PreparedText): string => published.before.ownerId;

/**
 * Returns the number of terms that are not counted yet. It may be too high when some terms come again; only then are they
 * looked at closely.
 */
function countNew(
  frequencies: ReadonlyMap<number, number>,
  terms: readonly number[],
  mostTerms: number,
): number {
  let fresh = 0;
  for (const term of terms) if (!frequencies.has(term)) fresh += 1;
  if (frequencies.size + fresh <= mostTerms) return fresh;
  return new Set(terms.filter((term) => !frequencies.has(term))).size;
}
