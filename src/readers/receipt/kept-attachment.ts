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
