import { tooLarge } from '../package/office-kind.js';
import type { OfficePackage } from '../package/office-package.js';
import { childrenOf, textOf } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

const MOST_STRINGS = 4_000_000;

/** Reads the texts that cells refer to by their index. @throws IngestError when there are too many */
export function readSharedStrings(office: OfficePackage, part: string | undefined): readonly string[] {
  const strings: string[] = [];
  if (part === undefined) return strings;
  for (const event of office.stream(part, (name) => name === 'x:si')) {
    if (event.type !== 'element') continue;
    strings.push(richText(event.element));
    if (strings.length > MOST_STRINGS)
      throw tooLarge(office.kind, `has more than ${MOST_STRINGS.toLocaleString('en')} shared strings`);
  }
  return strings;
}

/** The text of an item, whole or in runs, without the readings of East Asian characters (`rPh`). */
export function richText(item: XmlElement | undefined): string {
  let text = '';
  for (const child of childrenOf(item)) {
    if (child.name === 'x:t') text += textOf(child);
    else if (child.name === 'x:r') for (const run of childrenOf(child, 'x:t')) text += textOf(run);
  }
  return unescaped(text);
}

/** Control characters are written as `_x000D_` (ECMA-376 part 1, 22.9.2.19). */
const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;
