import type { Location } from '../../blocks/location.js';
import type { Block } from '../../blocks/block.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import type { SignReader } from '../signs/sign-reader.js';
import type { HiddenCounter } from '../visibility/hidden-counter.js';
import { attribute, type Attributes, type MarkupHandler } from '../xml/read-markup.js';
import type { FormulaOf } from './object-formulas.js';
import type { Styles } from './styles.js';

export interface OdfContext {
  readonly styles: Styles;
  readonly hidden: HiddenCounter;
  readonly receipt: ReceiptWriter;
  readonly formulaOf: FormulaOf;
  readonly signs: SignReader;
  /** Notes that a member of the file ends early. */
  noteCut(member: string): void;
}

/** Reads the XML of a document into blocks. */
export interface OdfReader extends MarkupHandler {
  take(): Block[];
  end(): Block[];
}

const OBJECTS = new Set(['draw:object', 'draw:object-ole', 'draw:plugin']);

interface OpenedElement {
  readonly name: string;
  readonly attributes: Attributes;
}

/** Returns the text of a formula that an element holds. Notes any other object of another program, such as a chart. */
export function readObject(
  { name, attributes }: OpenedElement,
  { receipt, formulaOf }: OdfContext,
  location: Location | null,
): string {
  if (!OBJECTS.has(name)) return '';
  const formula = formulaOf(attribute(attributes, 'xlink:href'));
  if (formula !== undefined) return formula;
  receipt.addGap('skipped', 'An embedded object is not read.', location);
  return '';
}
