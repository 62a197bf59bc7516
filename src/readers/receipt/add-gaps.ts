import { MAX_NAMED, type Gap, type Receipt } from './receipt.js';

/** Makes the gap for an attachment of which no document is made. */
export const missingAttachment = (filename: string | null | undefined, reason: string): Gap => ({
  reason: 'skipped',
  location: null,
  detail: `The attachment ${filename ?? 'without a name'} is not read: ${reason}`,
});

/** Adds gaps that appeared after the file was read. */
export function addGaps(receipt: Receipt, gaps: readonly Gap[]): Receipt {
  const counts = { ...receipt.gap_counts };
  for (const { reason } of gaps) counts[reason] = (counts[reason] ?? 0) + 1;
  return {
    ...receipt,
    gap_count: receipt.gap_count + gaps.length,
    gap_counts: counts,
    gaps: [...receipt.gaps, ...gaps].slice(0, MAX_NAMED),
  };
}
