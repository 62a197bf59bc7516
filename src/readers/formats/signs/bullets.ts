import { readSigns, signsOf } from './sign-reader.js';

/** Signs that say something of an item, such as whether it is done. */
const TELLING = /^[☐☑☒✓✔✗✘]$/;

/**
 * Returns the mark before an item of a list, with a space. The mark of a plain bullet tells nothing about it.
 * @param sign the text of the bullet. @param font the name of its font; undefined where it is not known
 */
export function bulletMark(sign: string, font?: string): string {
  const shown = readSigns(sign.trim(), signsOf(font)).text;
  return TELLING.test(shown) ? `- ${shown} ` : '- ';
}
