import { TooLargeError } from '../../../shared/errors.js';

/** A file as it comes in. */
export interface IncomingFile {
  /** As the caller wrote it, without folders. */
  readonly filename: string | null;
  /** The type that the caller claims. */
  readonly declaredType: string | null;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface FileTarget<Stored> {
  /** Larger files are refused, before their bytes come where that can be known. */
  readonly maxBytes: number;
  /** Reads all of the file's bytes; a transfer that breaks off makes that throw. */
  readonly store: (file: IncomingFile) => Promise<Stored>;
}

/**
 * Receives one file and the details that its caller gives with it. Rejects only after `store` has settled, so that what
 * was stored can be cleared away.
 */
export type ReceiveFile<Details> = <Stored>(
  target: FileTarget<Stored>,
) => Promise<{ readonly stored: Stored; readonly details: Details }>;

export const fileTooLarge = (maxBytes: number): TooLargeError =>
  new TooLargeError(`The file is larger than ${String(maxBytes)} bytes`);
