import type { Location } from '../../../../shared/extraction/location.js';
import type { Block } from '../../extraction/block.js';
import type { HiddenTextWriter } from '../../extraction/hidden-text.js';
import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import type { MarkupHandler } from '../xml/read-markup.js';
import type { Styles } from './styles.js';

export interface OdfContext {
  readonly styles: Styles;
  readonly hidden: HiddenTextWriter;
  readonly receipt: ReceiptWriter;
  /** Takes down that a member of the file ends early. */
  noteCut(member: string): void;
}

/** Reads the XML of a document into blocks. */
export interface OdfReader extends MarkupHandler {
  take(): Block[];
  end(): Block[];
}

const OBJECTS = new Set(['draw:object', 'draw:object-ole', 'draw:plugin']);

/** Takes down an element that holds something of another program, such as a chart. */
export function noteObject(name: string, receipt: ReceiptWriter, location: Location | null): void {
  if (OBJECTS.has(name)) receipt.addGap('skipped', 'An embedded object is not read.', location);
}
