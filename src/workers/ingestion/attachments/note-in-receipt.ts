import type { Gap, Receipt } from '../../../shared/extraction/receipt.js';

/** What became of an attachment that was kept. */
export interface Made {
  readonly position: number;
  readonly documentId: string | null;
  /** Why there is no document; null when there is one. */
  readonly reason: string | null;
}

const MOST_GAPS = 100;

/** Notes which documents were made of attachments. One that was not made is a gap. */
export function noteInReceipt(receipt: Receipt, made: readonly Made[]): Receipt {
  const attachments = [...receipt.attachments];
  const missing: Gap[] = [];
  for (const { position, documentId, reason } of made) {
    const named = attachments[position];
    if (named) attachments[position] = { ...named, document_id: documentId, reason };
    if (reason === null) continue;
    const detail = `The attachment ${named?.filename ?? 'without a name'} is not read: ${reason}`;
    missing.push({ reason: 'skipped', location: null, detail });
  }
  if (missing.length === 0) return { ...receipt, attachments };
  return {
    ...receipt,
    attachments,
    gap_count: receipt.gap_count + missing.length,
    gap_counts: { ...receipt.gap_counts, skipped: (receipt.gap_counts.skipped ?? 0) + missing.length },
    gaps: [...receipt.gaps, ...missing].slice(0, MOST_GAPS),
  };
}
