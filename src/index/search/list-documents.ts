import { at } from '../../shared/at.js';
import type { Mask } from '../masks/working-mask.js';
import type { AppTypes, Placed, Sort } from '../tables/app.js';
import type { DocumentTable } from '../tables/document-table.js';
import { firstAfter, placeOf } from '../tables/listing-order.js';

export interface CountRequest<Fields> {
  /** The documents that may be found. */
  readonly mask: Mask;
  /** Tells which of them are looked for; null for all. */
  readonly isWanted: ((fields: Fields) => boolean) | null;
}

export interface ListRequest<Fields> extends CountRequest<Fields> {
  readonly sort: Sort<Fields>;
  /** The place after which the list goes on; null for its beginning. */
  readonly after: Placed | null;
  readonly skip: number;
  readonly limit: number;
}

/** Returns the places of documents in their order: `limit` of them, and one more where there are more. */
export function listDocuments<App extends AppTypes>(
  store: Pick<DocumentTable<App>, 'documents' | 'listed'>,
  { mask, isWanted, sort, after, skip, limit }: ListRequest<App['fields']>,
): Placed[] {
  const { documents } = store;
  const slots = mask.count > skip ? store.listed(sort) : [];
  const found: Placed[] = [];
  let [matching, wanted] = [0, 0];
  const first = after ? firstAfter(slots, documents, { after, sort }) : 0;
  for (let place = first; place < slots.length; place += 1) {
    if (found.length > limit || matching >= mask.count) break;
    const slot = at(slots, place);
    if (mask.documents[slot] !== 1) continue;
    matching += 1;
    const document = at(documents, slot);
    if (isWanted && !isWanted(document.fields)) continue;
    wanted += 1;
    if (wanted > skip) found.push(placeOf(document, sort));
  }
  return found;
}

export function countDocuments<App extends AppTypes>(
  { documents }: Pick<DocumentTable<App>, 'documents'>,
  { mask, isWanted }: CountRequest<App['fields']>,
): number {
  if (!isWanted) return mask.count;
  let count = 0;
  for (const [slot, document] of documents.entries())
    if (document && mask.documents[slot] === 1 && isWanted(document.fields)) count += 1;
  return count;
}
