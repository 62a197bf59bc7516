import { rm } from 'node:fs/promises';
import type { AttachmentLimits, KeptAttachment } from '../../readers/index.js';
import type { ParserFolder } from './confinement/parser-folder.js';
import type { TaskEnd } from './run-in-child.js';

/** Takes the files that a child has kept out of its folder. A child that has put something else there is lost. */
export async function takeAttachments(
  folder: Pick<ParserFolder, 'give'>,
  end: TaskEnd,
  { most, mostBytes }: Pick<AttachmentLimits, 'most' | 'mostBytes'> = { most: 0, mostBytes: 0 },
): Promise<TaskEnd> {
  if (end.attachments.length === 0) return end;
  const taken: KeptAttachment[] = [];
  try {
    // The child is not trusted to heed the limits.
    for (const attachment of end.attachments.slice(0, most))
      taken.push({ ...attachment, file: await folder.give(attachment.file, mostBytes) });
    return { ...end, attachments: taken };
  } catch (cause) {
    await removeAttachments(taken);
    const error = new Error('the attachments of a parser cannot be taken', { cause });
    return { ...end, attachments: [], error, isLost: true };
  }
}

export async function removeAttachments(attachments: readonly KeptAttachment[]): Promise<void> {
  for (const { file } of attachments) await rm(file, { force: true });
}
