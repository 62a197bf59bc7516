import type { Mask, Searcher, Sort } from '../../../../index/index.js';
import {
  comparePlaces,
  listValue,
  nameMatcher,
  pageOf,
  type ListedPage,
  type ListOrder,
  type ListPosition,
} from '../../../documents/list-order.js';
import type { Mirrored, MirroredFields } from './mirror.js';

interface CountRequest {
  /** The documents that may be found. */
  readonly mask: Mask;
  readonly name: string | null;
}

interface ListRequest extends CountRequest {
  readonly order: ListOrder;
  readonly after: ListPosition | null;
  readonly skip: number;
  readonly limit: number;
}

export function listDocuments(
  mirror: Pick<Searcher<Mirrored>, 'list'>,
  { mask, name, order, after, skip, limit }: ListRequest,
): ListedPage {
  const isWanted = matcherOf(name);
  const placed = mirror.list({ mask, isWanted, sort: sortBy(order), after, skip, limit });
  return pageOf(placed, { skip, limit, after });
}

export function countDocuments(
  mirror: Pick<Searcher<Mirrored>, 'count'>,
  { mask, name }: CountRequest,
): number {
  return mirror.count({ mask, isWanted: matcherOf(name) });
}

const matcherOf = (name: string | null) => (name === null ? null : nameMatcher(name));

const sortBy = (order: ListOrder): Sort<MirroredFields> => ({
  key: `${order.by} ${String(order.isDescending)}`,
  field: order.by,
  // The time of its creation stays.
  isFixed: order.by === 'created',
  valueOf: (fields) => listValue(fields, order.by),
  compare: (a, b) => comparePlaces(a, b, order),
});
