import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { isProseType } from './attributes.js';
import { createElements, type Elements } from './elements.js';
import { failIfNothing } from './fail-if-nothing.js';
import { readMarkupText } from './read-markup.js';

const CHARACTERS_AT_ONCE = 262_144;
const PROLOG_BYTES = 256;
/** Within how many characters a document type is looked for. */
const TYPE_CHARACTERS = 1_024;

/** Reads any XML: prose as paragraphs under its headings, records as a line for each value behind its name. */
export function* parseXml(bytes: Uint8Array, { receipt }: ReadContext): Iterable<Block> {
  receipt.setParser('xml', '1');
  const prolog = Buffer.from(bytes.subarray(0, PROLOG_BYTES)).toString('latin1');
  const declared = /encoding\s*=\s*["']([\w.:-]+)/.exec(prolog)?.[1];
  const text = decodeText(bytes, { declared, receipt });
  const elements = createElements(receipt, isProseType(text.slice(0, TYPE_CHARACTERS)));
  let isCut = false;
  const cut = (): void => {
    isCut = true;
    receipt.addGap('unreadable', 'The file ends too early.');
  };
  yield* failIfNothing(readBlocks(text, { ...elements, cut }), () => isCut, 'XML file');
}

function* readBlocks(text: string, elements: Elements): Iterable<Block> {
  yield* readMarkupText(piecesOf(text), elements, () => elements.take());
  yield* elements.end();
}

function* piecesOf(text: string): Iterable<string> {
  for (let at = 0; at < text.length; at += CHARACTERS_AT_ONCE) yield text.slice(at, at + CHARACTERS_AT_ONCE);
}
