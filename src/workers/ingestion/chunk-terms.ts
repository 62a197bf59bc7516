import { analyzeText } from '../../shared/text/analyze-text.js';
import { packTerms } from '../../shared/text/packed-terms.js';

/** Returns the terms by which searches find a chunk, packed as the chunk keeps them. */
export const termsOfChunk = (text: string): Uint8Array => packTerms(analyzeText(text));
