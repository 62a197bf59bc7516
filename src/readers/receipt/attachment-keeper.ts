import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';

/** A file that a document carries. */
export interface CarriedFile {
  readonly filename: string | null;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** Keeps a file of the receipt; called once for each. Resolves with null when it is kept, else with the reason why not. */
export type KeepAttachment = (file: CarriedFile) => Promise<string | null>;

export interface AttachmentKeeper {
  readonly keep: KeepAttachment;
  readonly kept: readonly KeptAttachment[];
  /** Removes the attachments that were kept of a document that cannot be read after all. */
  discard(): Promise<void>;
}

/** Writes attachments to the present folder, which is the parser's own. */
export function createAttachmentKeeper(limits: AttachmentLimits | undefined): AttachmentKeeper {
  const kept: KeptAttachment[] = [];
  let position = -1;
  return {
    kept,
    keep: async ({ filename, contentType, bytes }) => {
      position += 1;
      const refusal = refusalOf(limits, { count: kept.length, size: bytes.length });
      if (refusal !== null) return refusal;
      const file = `attachment-${randomUUID()}`;
      kept.push({ file, position, filename: filename && cut(filename), contentType: cut(contentType) });
      await writeFile(file, bytes);
      return null;
    },
    discard: async () => {
      for (const { file } of kept.splice(0)) await rm(file, { force: true });
    },
  };
}

/** Most UTF-16 units of a name or type. Mails may give names of any length. */
const MAX_CHARACTERS = 1_000;
const cut = (text: string): string => text.slice(0, MAX_CHARACTERS);

function refusalOf(
  limits: AttachmentLimits | undefined,
  { count, size }: { count: number; size: number },
): string | null {
  if (!limits) return 'The setting ingest.attachments is off.';
  if (limits.refusal !== null) return limits.refusal;
  if (size === 0) return 'It is empty.';
  if (size > limits.mostBytes) return `It has more than ${String(limits.mostBytes)} bytes.`;
  return count < limits.most
    ? null
    : `No more than ${String(limits.most)} attachments of a document are read.`;
}

/** The limits of the files within a document that are kept, so that documents are made of them. */
export interface AttachmentLimits {
  readonly most: number;
  readonly mostBytes: number;
  /** The reason why none is kept; null when some are. */
  readonly refusal: string | null;
}

/** A file that a parser has taken out of a document. */
export interface KeptAttachment {
  /** The path of the file: at first its name in the parser's folder. */
  readonly file: string;
  /** The number of the attachment in the receipt, from 0. */
  readonly position: number;
  readonly filename: string | null;
  readonly contentType: string;
}
