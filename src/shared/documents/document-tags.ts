import { accessTags } from '../access/access-group.js';
import type { MatchableDocument } from '../document.js';
import { filterTags } from '../filters/index-tags.js';

/** The access and filter tags of a document, separated by commas, as its record and its published chunks hold them. */
export function documentTags(document: MatchableDocument): string {
  return [...accessTags(document), ...filterTags(document)].join(',');
}
