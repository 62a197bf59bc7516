import { missingAttachment } from '../../receipt/receipt.js';
import type { CarriedFile } from '../../receipt/attachment-keeper.js';
import type { Place } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';

/** Keeps an attachment, or says why it is not read. It is no part of the message's own text. */
export async function takeAttachment(
  file: CarriedFile,
  { receipt, keepAttachment }: ReadContext,
  place: Place | undefined,
): Promise<void> {
  const { filename, contentType, bytes } = file;
  const reason = keepAttachment ? await keepAttachment(file) : 'The setting ingest.attachments is off.';
  receipt.addAttachment({
    filename,
    content_type: contentType,
    size_bytes: bytes.length,
    document_id: null,
    reason,
  });
  if (reason === null) return;
  const gap = missingAttachment(filename, reason);
  const location = place?.message === undefined ? null : { message: place.message };
  receipt.addGap(gap.reason, gap.detail, location);
}
