import { listTerms } from '../../shared/text/list-terms.js';
import { packList } from '../../shared/text/packed-terms.js';

/** Returns the terms by which searches find a chunk, packed as the chunk keeps them. */
export const termsOfChunk = (text: string): Uint8Array => packList(listTerms(text));
