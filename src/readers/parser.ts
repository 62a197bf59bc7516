import type { ReadOptions } from './read-options.js';
import type { Block } from './blocks/block.js';
import type { KeepAttachment } from './receipt/attachment-keeper.js';
import type { ReceiptWriter } from './receipt/receipt-writer.js';

export interface ReadContext {
  /** What the client calls the file; null for none. Nothing may be opened by it. */
  readonly filename: string | null;
  readonly options: ReadOptions;
  /** Takes down what is read and what is not. */
  readonly receipt: ReceiptWriter;
  /** Keeps a file that the document carries, so that a document is made of it; absent where none is made. */
  readonly keepAttachment?: KeepAttachment | undefined;
  /** Whether compiled code is left out that another parser process has crashed in. */
  readonly avoidsNativeCode?: boolean | undefined;
}

/** Parses a file into blocks of text in reading order. @throws ReadError when it can never be read */
export type Parser = (bytes: Uint8Array, context: ReadContext) => AsyncIterable<Block> | Iterable<Block>;
