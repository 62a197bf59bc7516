import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { outputTextSchema, type Output } from './notebook-schema.js';

/** Colours and other controls of terminals. */
const TERMINAL = /\u001b\[[\d;?]*[A-Za-z]/g;
/** The text that Python shows for an object without a text, such as a figure. */
const NAMELESS = /^<[\w. ]{1,200}(?: at 0x[\da-f]{1,32}| size \d{1,9}x\d{1,9} with \d{1,9} Axes)>$/i;

/** The texts that a cell has put out. A picture without a text is a gap. */
export function* outputTexts(outputs: readonly Output[], receipt: ReceiptWriter): Iterable<string> {
  for (const output of outputs) {
    const text = plain(textOf(output));
    if (text !== '' && !NAMELESS.test(text)) yield text;
    else if (isPicture(output)) receipt.addGap('skipped', 'A picture that a cell has put out is not read.');
  }
}

function textOf({ text, data, ename, evalue }: Output): string {
  if (ename !== undefined) return `${ename}: ${evalue ?? ''}`;
  const { success, data: written } = outputTextSchema.safeParse(data?.['text/plain']);
  return (success ? written : undefined) ?? text ?? '';
}

/** Cleans the text of an output. A line that a progress bar has rewritten again and again keeps its last content. */
const plain = (text: string): string =>
  text
    .replace(TERMINAL, '')
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => line.slice(line.trimEnd().lastIndexOf('\r') + 1).trimEnd())
    .join('\n')
    .trim();

const isPicture = ({ data, png, jpeg }: Output): boolean =>
  png !== undefined ||
  jpeg !== undefined ||
  Object.keys(data ?? {}).some((type) => type.startsWith('image/'));
