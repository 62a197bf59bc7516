import { signsOf, type SignReader } from '../../signs/sign-reader.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { RunLook } from './run-look.js';

type Fonts = Pick<RunLook, 'asciiFont' | 'otherFont'>;

/** The text of a run as it is shown: symbol fonts show other signs than its characters. */
export function textInFonts(text: string, { asciiFont, otherFont }: Fonts, signs: SignReader): string {
  if (signsOf(asciiFont) === signsOf(otherFont)) return signs.read(text, otherFont);
  // Characters beyond Latin-1 are in no other font than the symbol font.
  const symbolFont = signsOf(otherFont) === undefined ? asciiFont : otherFont;
  return text.replace(/[\0-\x7f]+|[\x80-\xff]+|[^\0-\xff]+/g, (part) => {
    const code = part.charCodeAt(0);
    return signs.read(part, code < 0x80 ? asciiFont : code < 0x100 ? otherFont : symbolFont);
  });
}

/**
 * Returns the sign that an element stands for (`w:sym`, or the element of later versions of Word for characters beyond
 * FFFF).
 */
export function signOf({ name, attributes }: XmlElement, signs: SignReader): string {
  const [code, font] =
    name === 'w:sym'
      ? [attributes['w:char'], attributes['w:font']]
      : [attributes['w16se:char'], attributes['w16se:font']];
  if (code === undefined || !/^[\da-f]{1,6}$/i.test(code)) return '';
  const number = Number.parseInt(code, 16);
  return number > 0x10_ffff ? '' : signs.read(String.fromCodePoint(number), font);
}
