import { ReadError } from '../../read-error.js';

/** Makes the error of a document that a reader cannot read. Readers report failed allocations as ordinary errors. */
export function pdfFailure(cause: unknown): ReadError {
  if (cause instanceof ReadError) return cause;
  const isMemory =
    cause instanceof Error && /allocation failed|invalid (?:typed )?array length/i.test(cause.message);
  return isMemory
    ? new ReadError('too_large', 'The document needs more memory than a parser has.', { cause })
    : new ReadError('corrupt', 'The PDF file is damaged.', { cause });
}

export function passwordNeeded(cause: unknown): ReadError {
  return new ReadError('encrypted', 'The PDF file is protected by a password.', { cause });
}

/** Refuses an unknown encryption, such as one for the certificates of readers. */
export function unknownEncryption(cause: unknown): ReadError {
  return new ReadError('encrypted', 'The PDF file is encrypted in a way that is not read.', { cause });
}
