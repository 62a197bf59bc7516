import type { Place } from '../../extraction/block.js';
import type { ParseContext } from '../parser.js';
import type { MailAttachment } from './message.js';

/** Takes down an attachment, which is no part of the message's own text. */
export function takeAttachment(
  { filename, contentType, bytes }: MailAttachment,
  { receipt }: ParseContext,
  place: Place | undefined,
): void {
  const location = place?.message === undefined ? null : { message: place.message };
  const reason = 'Attachments are not read.';
  receipt.addAttachment({
    filename,
    content_type: contentType,
    size_bytes: bytes.length,
    document_id: null,
    reason,
  });
  receipt.addGap('skipped', `The attachment ${filename ?? 'without a name'} is not read.`, location);
}
