import { slicesOf } from '../../src/shared/batches.js';
import { SECTION_CHUNKS } from '../../src/index/scoring/score.js';

/** The packed terms of each chunk of a document, with those of its section. */
export function withSections(
  chunks: readonly Uint8Array[],
): { readonly terms: Uint8Array; readonly section: readonly Uint8Array[] }[] {
  return slicesOf(chunks, SECTION_CHUNKS).flatMap((section) => section.map((terms) => ({ terms, section })));
}
