import { z } from 'zod';
import type { AccessLists } from '../access/access.js';
import { metadataSchema } from '../document.js';
import { ImpossibleError, MalformedRecordError } from '../errors.js';
import { parseFilter, type Filter } from '../filters/parse.js';
import { COLLECTIONS_PATH } from '../filters/paths.js';

const DAY_MILLISECONDS = 86_400_000;
/** The last use of a collection is written at most once in this time. */
const USE_MILLISECONDS = 3_600_000;

/**
 * A named scope for searches. Documents are put into it: which ones, their own records say. Access to a collection gives no
 * right to any of them.
 */
export interface CollectionRecord extends AccessLists {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: z.infer<typeof metadataSchema>;
  /** The filter as a client sent it; null where all documents of the collection are found. */
  readonly filter: z.infer<ReturnType<typeof z.json>>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The latest use, or up to an hour before. */
  readonly lastActiveAtMs: number;
  /** The number of days without use after which it goes; null where it stays. */
  readonly expiresAfterDays: number | null;
  /** Rises with every change, and is compared when one is written. */
  readonly revision: number;
}

/** When a collection goes, in ms; null where it stays. */
export const expiryOf = ({
  lastActiveAtMs,
  expiresAfterDays,
}: Pick<CollectionRecord, 'lastActiveAtMs' | 'expiresAfterDays'>): number | null =>
  expiresAfterDays === null ? null : lastActiveAtMs + expiresAfterDays * DAY_MILLISECONDS;

export function isExpired(record: CollectionRecord, nowMs: number): boolean {
  const expiry = expiryOf(record);
  return expiry !== null && expiry <= nowMs;
}

/** The record of a collection that is used now; null where its last use is recent enough. */
export const used = (record: CollectionRecord, nowMs: number): CollectionRecord | null =>
  nowMs - record.lastActiveAtMs < USE_MILLISECONDS ? null : { ...record, lastActiveAtMs: nowMs };

/** The record of a collection that is given to another owner, who takes the place of the present one in the lists. */
export function givenTo(record: CollectionRecord, ownerId: string): CollectionRecord {
  const named = (ids: readonly string[]) => [
    ...new Set(ids.map((id) => (id === record.ownerId ? ownerId : id))),
  ];
  const { readers, writers, admins } = record;
  return { ...record, ownerId, readers: named(readers), writers: named(writers), admins: named(admins) };
}

/** The filter of the documents that were put into a collection. */
export const membersOf = (id: string): Filter => ({ type: 'equals', path: COLLECTIONS_PATH, values: [id] });

/**
 * The filter of the documents that are found in a collection: those that were put into it and match its filter.
 * @throws ImpossibleError for a stored filter that is refused by now
 */
export function scopeOf({ id, filter }: Pick<CollectionRecord, 'id' | 'filter'>): Filter {
  const parsed = parseFilter(filter);
  if ('errors' in parsed) {
    const reasons = parsed.errors.map(({ msg }) => msg).join('; ');
    throw new ImpossibleError(`The filter of this collection is refused today: ${reasons}`);
  }
  const members = membersOf(id);
  return parsed.filter ? { type: 'and', filters: [members, parsed.filter] } : members;
}

/** The fields of a collection in its hash. Lists and objects are JSON, since the repository joins lists by a bar. */
export interface CollectionEntity {
  readonly [field: string]: string | number | null;
  readonly ownerId: string;
  readonly name: string;
  readonly description: string | null;
  readonly access: string;
  readonly metadata: string;
  readonly filter: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly lastActiveAtMs: number;
  readonly expiresAfterDays: number | null;
  readonly revision: number;
}

export function entityOf(record: CollectionRecord): CollectionEntity {
  const { id: _, readers, writers, admins, metadata, filter, ...fields } = record;
  return {
    ...fields,
    access: JSON.stringify({ readers, writers, admins }),
    metadata: JSON.stringify(metadata),
    filter: filter === null ? null : JSON.stringify(filter),
  };
}

const jsonText = z.string().transform((text): unknown => JSON.parse(text));
const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value ?? null);
const ids = z.array(z.string());

const entitySchema = z.object({
  ownerId: z.string(),
  name: z.string(),
  description: orNull(z.string()),
  access: jsonText.pipe(z.object({ readers: ids, writers: ids, admins: ids })),
  metadata: jsonText.pipe(metadataSchema),
  filter: orNull(jsonText.pipe(z.json())),
  createdAtMs: z.number(),
  updatedAtMs: z.number(),
  lastActiveAtMs: z.number(),
  expiresAfterDays: orNull(z.number()),
  revision: z.number(),
});

/**
 * Reads what the repository gives for an id: an entity without fields where there is no such collection.
 * @throws MalformedRecordError
 */
export function recordOf(id: string, entity: Readonly<Record<string, unknown>>): CollectionRecord | null {
  if (entity['revision'] === undefined) return null;
  try {
    const { access, ...fields } = entitySchema.parse(entity);
    return { id, ...fields, ...access };
  } catch (error) {
    throw new MalformedRecordError('the record of a collection cannot be read', { cause: error });
  }
}
