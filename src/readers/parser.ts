import type { ReadOptions } from './read-options.js';
import type { Block } from './blocks/block.js';
import type { KeepAttachment } from './receipt/attachment-keeper.js';
import type { ReceiptWriter } from './receipt/receipt-writer.js';

export interface ReadContext {
  /** The name that the client gives the file; null for none. Nothing may be opened by it. */
  readonly filename: string | null;
  readonly options: ReadOptions;
  /** Notes the parts that are read and the gaps. */
  readonly receipt: ReceiptWriter;
  /** Keeps a file that the document carries, so that a document is made of it; absent where none is made. */
  readonly keepAttachment?: KeepAttachment | undefined;
  /** True if compiled code is left out, because another parser process has crashed in it. */
  readonly avoidsNativeCode?: boolean | undefined;
}

/** Parses a file into blocks of text in reading order. @throws ReadError when it can never be read */
export type Parser = (bytes: Uint8Array, context: ReadContext) => AsyncIterable<Block> | Iterable<Block>;
