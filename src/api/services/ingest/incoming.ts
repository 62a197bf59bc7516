import { TooLargeError } from '../../../shared/errors.js';

/** A file as it comes in. */
export interface IncomingFile {
  /** The name that the caller stated, without folders. */
  readonly filename: string | null;
  /** The content type that the caller stated. */
  readonly declaredType: string | null;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface FileTarget<Stored> {
  /** Larger files are refused, if possible before their bytes are read. */
  readonly maxBytes: number;
  /** Makes the error that refuses them. */
  readonly tooLarge: () => Error;
  /** Must read all of the file's bytes. Reading throws when the transfer breaks off. */
  readonly store: (file: IncomingFile) => Promise<Stored>;
}

/**
 * Receives one file and the details that the caller sends with it. Rejects only after `store` has settled, so that the
 * stored file can be removed.
 */
export type ReceiveFile<Details> = <Stored>(
  target: FileTarget<Stored>,
) => Promise<{ readonly stored: Stored; readonly details: Details }>;

export const fileTooLarge = (maxBytes: number): TooLargeError =>
  new TooLargeError(`The file is larger than ${String(maxBytes)} bytes`);

/** One of many items of a request: its content, or the reason why it is refused. `index` is its place in the request. */
export type IncomingItem<Item> = {
  readonly index: number;
  /** The digest that a line of a stream with an `Idempotency-Key` is compared by. */
  readonly digest?: string | undefined;
} & ({ readonly item: Item; readonly error?: never } | { readonly error: unknown; readonly item?: never });

/** Items in their order, in groups that are handled together. */
export type IncomingGroups<Item> = AsyncIterable<readonly IncomingItem<Item>[]>;
