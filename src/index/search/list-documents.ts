import { at } from '../../shared/at.js';
import {
  nameMatcher,
  NEWEST_FIRST,
  pageOf,
  type ListedPage,
  type ListOrder,
  type ListPosition,
  type Placed,
} from '../../shared/documents/list-order.js';
import type { Mask } from '../masks/working-mask.js';
import type { DocumentTable } from '../tables/document-table.js';
import { firstAfter, placeOf } from '../tables/listing-order.js';

export interface CountRequest {
  /** The documents that may be found. */
  readonly mask: Mask;
  readonly name?: string | null;
}

export interface ListRequest extends CountRequest {
  readonly order?: ListOrder;
  readonly after?: ListPosition | null;
  readonly skip: number;
  readonly limit: number;
}

export function listDocuments(
  store: Pick<DocumentTable, 'documents' | 'listed'>,
  { mask, name = null, order = NEWEST_FIRST, after = null, skip, limit }: ListRequest,
): ListedPage {
  const { documents } = store;
  const slots = mask.count > skip ? store.listed(order) : [];
  const isNamed = nameMatcher(name);
  const found: Placed[] = [];
  let [matching, named] = [0, 0];
  const first = after ? firstAfter(slots, documents, { after, order }) : 0;
  for (let place = first; place < slots.length; place += 1) {
    if (found.length > limit || matching >= mask.count) break;
    const slot = at(slots, place);
    if (mask.documents[slot] !== 1) continue;
    matching += 1;
    const document = at(documents, slot);
    if (!isNamed(document)) continue;
    named += 1;
    if (named > skip) found.push(placeOf(document, order));
  }
  return pageOf(found, { skip, limit, after });
}

export function countDocuments(
  { documents }: Pick<DocumentTable, 'documents'>,
  { mask, name = null }: CountRequest,
): number {
  if (name === null) return mask.count;
  const isNamed = nameMatcher(name);
  let count = 0;
  for (const [slot, document] of documents.entries())
    if (document && mask.documents[slot] === 1 && isNamed(document)) count += 1;
  return count;
}
