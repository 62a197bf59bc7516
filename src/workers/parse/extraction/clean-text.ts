import { toWellFormed } from '../../../shared/well-formed.js';

/** Removes what stores and models do not accept: NUL, lone surrogates and, at the start of a document, the byte order mark. */
export function cleanText(text: string, isStart = true): string {
  return toWellFormed(text.replace(isStart ? /\0|^\ufeff/g : /\0/g, ''));
}
