/** The reason why a file can never be read as it is. */
export type ReadFailure = 'empty_document' | 'encrypted' | 'corrupt' | 'too_large' | 'internal';

/** A file cannot be read as it is. */
export class ReadError extends Error {
  override readonly name = 'ReadError';
  readonly code: ReadFailure;

  /** @param message is shown to the document's owner, and must hold no paths, stacks or content */
  constructor(code: ReadFailure, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
  }
}
