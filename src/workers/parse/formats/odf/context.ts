import type { Block } from '../../extraction/block.js';
import type { HiddenTextWriter } from '../../extraction/hidden-text.js';
import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import type { MarkupHandler } from '../xml/read-markup.js';
import type { Styles } from './styles.js';

export interface OdfContext {
  readonly styles: Styles;
  readonly hidden: HiddenTextWriter;
  readonly receipt: ReceiptWriter;
}

/** Reads the XML of a document into blocks. */
export interface OdfReader extends MarkupHandler {
  take(): Block[];
  end(): Block[];
}
