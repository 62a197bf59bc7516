import { at } from '../../../at.js';
import { compareIds, type MirroredDocument } from '../mirror/mirrored.js';
import { createSortedSlots, type SortedSlots } from './sorted-slots.js';

/**
 * Keeps document slots in the order in which lists show them: newest document first, ties by id.
 * @param documents indexed by document slot
 * @param all returns all slots, for the first read
 */
export function createListingOrder(
  documents: readonly (MirroredDocument | undefined)[],
  all: () => number[],
): SortedSlots {
  return createSortedSlots((a, b) => compareForListing(at(documents, a), at(documents, b)), all);
}

function compareForListing(a: MirroredDocument, b: MirroredDocument): number {
  return compareTimes(b.createdAt, a.createdAt) || compareIds(a.id, b.id);
}

/** Times in the format of `toISOString` are ordered as their texts are. */
const USUAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function compareTimes(a: string, b: string): number {
  const areUsual = USUAL_TIME.test(a) && USUAL_TIME.test(b);
  return (areUsual ? 0 : Date.parse(a) - Date.parse(b)) || compareIds(a, b);
}
