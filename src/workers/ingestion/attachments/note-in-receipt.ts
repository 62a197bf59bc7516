import { addGaps, type Gap, missingAttachment, type Receipt } from '../../../readers/index.js';

/** The fate of an attachment that was kept. */
export interface Made {
  readonly position: number;
  /** The document that there is or will be of it. */
  readonly documentId: string | null;
  /** The reason why there is no document; null when there is one, or will be. */
  readonly reason: string | null;
}

/** Notes which documents were made of attachments. One that was not made is a gap. */
export function noteInReceipt(receipt: Receipt, made: readonly Made[]): Receipt {
  const attachments = [...receipt.attachments];
  const missing: Gap[] = [];
  for (const { position, documentId, reason } of made) {
    const named = attachments[position];
    if (named) attachments[position] = { ...named, document_id: documentId, reason };
    if (reason !== null) missing.push(missingAttachment(named?.filename, reason));
  }
  return { ...addGaps(receipt, missing), attachments };
}
