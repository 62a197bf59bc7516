import type { DocumentRecord } from '../../../shared/document.js';
import type { AttachmentLimits } from '../../../readers/index.js';

export interface AttachmentSettings {
  /** True if attachments become documents. */
  readonly attachments: boolean;
  readonly attachmentDepth: number;
  readonly maxAttachments: number;
  readonly maxFileBytes: number;
}

/** Returns the attachments of a document that become documents; undefined when none ever does. */
export function attachmentLimits(
  { attachments, attachmentDepth, maxAttachments, maxFileBytes }: AttachmentSettings,
  { attachmentOf }: Pick<DocumentRecord, 'attachmentOf'>,
): AttachmentLimits | undefined {
  if (!attachments) return undefined;
  const isTooDeep = (attachmentOf?.depth ?? 0) >= attachmentDepth;
  return {
    most: maxAttachments,
    mostBytes: maxFileBytes,
    refusal: isTooDeep ? `Attachments are read to a depth of ${String(attachmentDepth)}.` : null,
  };
}
