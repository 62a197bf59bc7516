import { hash } from 'node:crypto';
import { z } from 'zod';
import { LIST_KEYS, type ListOrder, type ListPosition } from '../../../shared/documents/list-order.js';
import { jsonOrNull } from '../../../shared/json-values.js';
import { optionalOr, queryInteger } from './field-schemas.js';
import { addItem } from './validation-errors.js';

/** The place where a list goes on, its order, and the digest of which list it is. */
export interface ListCursor {
  readonly order: ListOrder;
  readonly position: ListPosition;
  /** The digest of the list's request, so that it does not go on as another one. */
  readonly digest: string;
}

const cursorFields = z.tuple([
  z.enum(LIST_KEYS),
  z.boolean(),
  z.string().max(4_096),
  z.uuid(),
  z.int().min(0),
  z.string().length(16),
]);
const MAX_CURSOR_CHARACTERS = 16_384;

/** Clients get it as it is, and must not read it. It is not signed: it names a place, and access is checked as always. */
export function writeCursor({ order, position: { value, id, rank }, digest }: ListCursor): string {
  const parts: z.infer<typeof cursorFields> = [order.by, order.isDescending, value, id, rank, digest];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Returns null for a text that is no cursor. */
export function readCursor(text: string): ListCursor | null {
  if (text.length > MAX_CURSOR_CHARACTERS || !/^[\w-]+$/.test(text)) return null;
  const parsed = cursorFields.safeParse(jsonOrNull(Buffer.from(text, 'base64url').toString('utf8')));
  if (!parsed.success) return null;
  const [by, isDescending, value, id, rank, digest] = parsed.data;
  return { order: { by, isDescending }, position: { value, id, rank }, digest };
}

/** Returns the digest of a list's request, in the 16 characters of a cursor. */
export const listDigest = (asked: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(asked), 'hex').slice(0, 16);

/** The parameters of lists that come in pages. */
export const page = {
  skip: optionalOr(queryInteger({ ge: 0 }), 0).describe('How many to leave out at the beginning.'),
  limit: optionalOr(queryInteger({ ge: 1, le: 100 }), 100).describe('At most this many are returned.'),
};

/** A place in a list of collections: 13 digits, which are its time of creation, and its id. */
const PLACE = /^\d{13}[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

export const writePlace = (place: string): string => Buffer.from(place).toString('base64url');

const placeCursor = z
  .string()
  .transform((text, context) => {
    const place = Buffer.from(text, 'base64url').toString('latin1');
    if (PLACE.test(place) && writePlace(place) === text) return place;
    addItem(context, { loc: [], msg: 'value is not a valid cursor', type: 'value_error.cursor' });
    return z.NEVER;
  })
  .optional()
  .describe('Where the list goes on: from the address in the header `Link` of the answer before.');

/** The parameters of the list of collections. */
export const collectionPage = z.object({
  limit: page.limit,
  cursor: placeCursor,
  order: optionalOr(z.enum(['asc', 'desc']), 'desc').describe('`desc` for the newest first.'),
});
