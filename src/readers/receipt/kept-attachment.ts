/** Which files that a document carries are kept, so that documents are made of them. */
export interface AttachmentLimits {
  readonly most: number;
  readonly mostBytes: number;
  /** Why none is kept; null when some are. */
  readonly refusal: string | null;
}

/** A file that a parser has taken out of a document. */
export interface KeptAttachment {
  /** Where it is: at first its name in the parser's folder, then its path. */
  readonly file: string;
  /** Which of the attachments of the receipt it is, from 0. */
  readonly position: number;
  readonly filename: string | null;
  readonly contentType: string;
}
