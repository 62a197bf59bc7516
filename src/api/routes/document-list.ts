import { z } from 'zod';
import type { DocumentRecord } from '../../shared/document.js';
import { LIST_KEYS, type ListOrder } from '../../shared/documents/list-order.js';
import { HttpError } from '../http/http-error.js';
import { isLonger, optionalOr, queryBoolean } from '../http/validation/field-schemas.js';
import { collectionParameter, queryFilters, sharedParameter } from '../http/validation/search-fields.js';
import { listDigest, readCursor, writeCursor, page, type ListCursor } from '../http/validation/paging.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute } from '../http/route.js';
import { documentView, viewDocument } from './document-view.js';
import type { Documents } from '../services/documents/read-documents.js';
import { listDocumentsExamples } from './examples/documents.js';

const MAX_NAME = 256;
/** Filters that take more characters in an address are no part of one in a header, which clients and proxies bound. */
const MAX_LINKED_FILTER = 4_096;

/** `created`, newest first, or `-created`: by a minus, each is the other way than from A to Z or from 0 to 9. */
const SORTS = LIST_KEYS.flatMap((key) => [key, `-${key}`] as const);

const listQuery = z.object({
  ...page,
  filters: queryFilters,
  shared: sharedParameter,
  collection: collectionParameter,
  cursor: z
    .string()
    .optional()
    .describe(
      'Where the list goes on: from the address in the header `Link` of the answer before. Whatever is added or removed ' +
        'meanwhile, nothing that stays is repeated or left out. `filters`, `q` and the order must be the same.',
    ),
  total: optionalOr(queryBoolean, false).describe(
    'True to be told in the header `Quire-Total` how many documents match.',
  ),
  sort: z
    .enum(SORTS)
    .optional()
    .describe(
      'By the time of creation (the default) or of the last change, newest first, or by file name, from A to Z. With a ' +
        'minus: newest first, or from Z to A.',
    ),
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .describe('The direction, where `sort` does not begin with a minus.'),
  q: z
    .string()
    .optional()
    .check((context) => {
      const { value, issues } = context;
      if (value !== undefined && isLonger(value, MAX_NAME))
        issues.push({
          code: 'too_big',
          origin: 'string',
          maximum: MAX_NAME,
          inclusive: true,
          input: value,
        });
    })
    .describe(
      'Only documents whose file name holds each of these words, also within others; without case and accents.',
    ),
});

type ListQuery = z.output<typeof listQuery>;

/** Returns the fields, the documents and the start of a list. @throws HttpError 422 for a cursor of another list */
function toListing(query: ListQuery) {
  const { filters, shared, collection, q, sort, order, total, cursor: text = '', skip, limit } = query;
  const name = q === undefined || q.trim() === '' ? null : q.trim();
  const narrowed = [...(shared ? [shared] : []), ...(collection === undefined ? [] : [{ collection }])];
  const digest = listDigest([filters.json, name, ...narrowed]);
  const stated = sort === undefined && order === undefined ? null : orderOf(sort ?? 'created', order);
  const cursor = text === '' ? null : readCursor(text);
  if (text !== '' && !cursor) throw wrongCursor('value is not a valid cursor');
  const isOther = cursor && (cursor.digest !== digest || (stated && !isSameOrder(stated, cursor.order)));
  if (isOther) throw wrongCursor(filters.json === null ? `${OTHER_LIST}; ${LEFT_OUT}` : OTHER_LIST);
  const place = { order: cursor?.order ?? stated ?? orderOf('created'), after: cursor?.position ?? null };
  return {
    listing: { filter: filters.filter, shared, collection, name, skip, limit, isCounted: total, ...place },
    digest,
  };
}

const OTHER_LIST = 'this cursor belongs to a list of another order, other filters or another name';
/** A list that ended there would look as if nothing followed, and one without the filters as if all of it matched them. */
const LEFT_OUT = `filters of more than ${MAX_LINKED_FILTER.toLocaleString('en')} characters are no part of the address in "Link" and must be sent again with it`;

const wrongCursor = (msg: string) =>
  new HttpError(422, [{ loc: ['query', 'cursor'], msg, type: 'value_error.cursor' }]);

/** Times are the other way round by nature: the newest comes first. */
function orderOf(sort: (typeof SORTS)[number], order?: 'asc' | 'desc'): ListOrder {
  const by = LIST_KEYS.find((key) => sort.endsWith(key)) ?? 'created';
  if (sort.startsWith('-')) return { by, isDescending: true };
  return { by, isDescending: order === undefined ? by !== 'name' : order === 'desc' };
}

const isSameOrder = (a: ListOrder, b: ListOrder): boolean =>
  a.by === b.by && a.isDescending === b.isDescending;

export const listRoute = ({
  documents,
  bucket,
}: {
  readonly documents: Documents;
  readonly bucket: string;
}) =>
  defineRoute({
    method: 'get',
    tag: 'Documents',
    permission: 'read',
    path: '/documents',
    audit: 'document.list',
    summary: 'List documents, newest first',
    description:
      'Lists the documents that the caller may read and that match the filter. Where more follow, the header `Link` holds the ' +
      'address of the next page (`rel="next"`). Filters that take more than 4,096 characters are no part of it and must be sent ' +
      'again with it, or it is a 422. A page may be shorter than `limit` where documents are removed meanwhile.',
    request: { query: listQuery },
    responses: { 200: z.array(documentView), 404: errorBody },
    examples: listDocumentsExamples,
    handle: async ({ caller, query, baseUrl, signal }, reply) => {
      const { listing, digest } = toListing(query);
      const { records, next, total } = await documents.list({
        ...listing,
        principal: caller.principal,
        signal,
      });
      const headers = {
        ...(next && {
          Link: `<${baseUrl}/documents?${nextQuery(listing, query.filters.json, { position: next, digest })}>; rel="next"`,
        }),
        ...(total !== null && { 'Quire-Total': String(total) }),
      };
      return reply.items(records, (record: DocumentRecord) => viewDocument(record, bucket), headers);
    },
  });

/** Returns the parameters of the next page. */
function nextQuery(
  { limit, order, name, shared, collection, isCounted }: ReturnType<typeof toListing>['listing'],
  filters: unknown,
  place: Omit<ListCursor, 'order'>,
): string {
  const filter = filters === null ? null : JSON.stringify(filters);
  return new URLSearchParams({
    limit: String(limit),
    sort: order.by,
    order: order.isDescending ? 'desc' : 'asc',
    ...(name !== null && { q: name }),
    ...(shared && { shared }),
    ...(collection !== undefined && { collection }),
    ...(filter !== null && encodeURIComponent(filter).length <= MAX_LINKED_FILTER && { filters: filter }),
    ...(isCounted && { total: 'true' }),
    cursor: writeCursor({ ...place, order }),
  }).toString();
}
