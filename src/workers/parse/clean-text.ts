import { toWellFormed } from '../../shared/well-formed.js';

/** Text that every store and model takes: no NUL, no lone surrogates, no byte order mark, no characters of no width but joiners. */
export function cleanText(text: string): string {
  return toWellFormed(text.replace(/\0|^\ufeff/g, ''));
}
