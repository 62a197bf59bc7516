import { inflatedStreams } from './streams.js';

/** Tells whether a file may switch to invisible text (`3 Tr`), which PDFium leaves out. */
export function mayHoldInvisibleText(bytes: Uint8Array): boolean {
  for (const content of inflatedStreams(bytes, 'content'))
    if (content !== 'too large' && setsInvisible(content)) return true;
  return false;
}

/** The operator with its number, which may be written in many ways, and white space and comments between them. */
const SETS_INVISIBLE = /(?<![\d.])0*[37](?:\.0*)?(?:\s|%[^\r\n]{0,100}[\r\n]){1,50}Tr\b/;

const setsInvisible = (content: Buffer): boolean => SETS_INVISIBLE.test(content.toString('latin1'));
