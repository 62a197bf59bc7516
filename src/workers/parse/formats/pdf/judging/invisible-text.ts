import { inflatedStreams } from './streams.js';

/** Tells whether a file may switch to invisible text (`3 Tr`), which PDFium leaves out. */
export function mayHoldInvisibleText(bytes: Uint8Array): boolean {
  for (const content of inflatedStreams(bytes, 'content'))
    if (content !== 'too large' && setsInvisible(content)) return true;
  return false;
}

const setsInvisible = (content: Buffer): boolean => /\b[37]\s{1,4}Tr\b/.test(content.toString('latin1'));
