import { accessTags } from '../access/access-group.js';
import type { DocumentRecord, MatchableDocument } from '../document.js';
import { documentTokens } from '../filters/tags.js';

/** Access and filter tokens of a document, comma-separated, as its record and its published chunks carry them. */
export function documentTags(document: MatchableDocument & Pick<DocumentRecord, 'ownerId'>): string {
  return [...accessTags(document), ...documentTokens(document)].join(',');
}
