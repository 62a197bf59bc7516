import { toWellFormed } from '../../shared/well-formed.js';

/** Removes what stores and models do not accept: NUL, lone surrogates and the byte order mark. */
export function cleanText(text: string): string {
  return toWellFormed(text.replace(/\0|^\ufeff/g, ''));
}
