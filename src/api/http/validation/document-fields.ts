import { z } from 'zod';
import type { AccessLists } from '../../../shared/access/access.js';
import type { Metadata, Json } from '../../../shared/document.js';
import type { ValidationItem } from '../../../shared/errors.js';
import { MAX_METADATA_DEPTH } from '../../../shared/filters/paths.js';
import { NOT_EXACT, isPlainObject, isWellFormed } from '../../../shared/json-values.js';
import { HttpError } from '../http-error.js';
import { OBJECT_SCHEMA, isLonger, list, optionalNull } from './field-schemas.js';
import { addItem, MESSAGES, SURROGATE } from './validation-errors.js';

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_METADATA_LEAVES = 128;

/** The field `metadata` of a document: at most 16 KiB of JSON, 128 leaves and 64 levels. */
export const metadata = z
  .custom<Metadata>(isPlainObject, { error: MESSAGES.dict, abort: true })
  .meta({ override: OBJECT_SCHEMA })
  .superRefine((value, context) => {
    for (const item of checkMetadata(value)) addItem(context, item);
  })
  .meta({ override: OBJECT_SCHEMA });

/**
 * A change of single keys of the metadata (RFC 7396); null takes all of them away. The result must keep the limits. The
 * function that applies it throws HttpError 422.
 */
export const metadataMerge = z
  .custom<Metadata | null>((value) => value === null || isPlainObject(value), { error: MESSAGES.dict })
  .meta({ override: { type: ['object', 'null'], additionalProperties: true } })
  .transform((change) => (now: Metadata): Metadata => {
    const merged = change === null ? {} : mergePatch(now, change);
    const items = isPlainObject(merged) ? checkMetadata(merged) : [];
    if (items.length > 0)
      throw new HttpError(
        422,
        items.map(({ loc, ...item }) => ({ ...item, loc: ['body', 'metadata', ...loc] })),
      );
    return isPlainObject(merged) ? merged : {};
  });

type Loc = ValidationItem['loc'];

/**
 * Returns the faults of a document's metadata. An empty object or list counts as a leaf. The check stops at the first
 * limit, so that a hostile value costs no more than a good one.
 */
function checkMetadata(metadata: object): ValidationItem[] {
  const waiting: { value: unknown; loc: Loc }[] = [{ value: metadata, loc: [] }];
  const inexact: ValidationItem[] = [];
  let leaves = 0;
  let characters = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, loc } = next;
    if (loc.length > MAX_METADATA_DEPTH) return [excess('levels of nesting', MAX_METADATA_DEPTH)];
    characters += typeof value === 'string' ? value.length : 0;
    if (characters > MAX_METADATA_BYTES) return [excess('bytes of JSON', MAX_METADATA_BYTES)];
    const inner = innerOf(value);
    if (inner.length === 0 && loc.length > 0) leaves += 1;
    if (inner.length + leaves > MAX_METADATA_LEAVES) return [excess('leaves', MAX_METADATA_LEAVES)];
    const texts = typeof value === 'string' ? [value] : keysOf(value);
    if (!texts.every(isWellFormed)) return [{ loc: [], msg: MESSAGES.surrogate, type: SURROGATE }];
    // Infinity stands for a number that a double would change.
    if (typeof value === 'number' && !Number.isFinite(value)) inexact.push({ loc, ...NOT_EXACT });
    for (const [key, child] of inner.reverse()) waiting.push({ value: child, loc: [...loc, key] });
  }
  if (inexact.length > 0) return inexact;
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  return bytes > MAX_METADATA_BYTES ? [excess('bytes of JSON', MAX_METADATA_BYTES)] : [];
}

function innerOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return [...value.entries()];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

const keysOf = (value: unknown): string[] => (isPlainObject(value) ? Object.keys(value) : []);

function excess(unit: string, limit: number): ValidationItem {
  const msg = `ensure this value has at most ${String(limit)} ${unit}`;
  return { loc: [], msg, type: 'value_error', ctx: { limit_value: limit } };
}

/** Changes single members of a JSON value: null removes one, objects are merged, all else replaces (RFC 7396). */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isPlainObject(patch)) return patch;
  // A map keeps the key `__proto__` apart from the prototype.
  const merged = new Map<string, Json>(isPlainObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** The maximum number of characters of a user's id. */
const MAX_ID = 256;
/** The maximum number of users in each access list. */
const MAX_USERS = 1_000;

/** A text that is compared as it is. */
const exactText = (max: number) =>
  z
    .string()
    .min(1)
    .check((context) => {
      const { value: input, issues } = context;
      if (isLonger(input, max)) {
        issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input });
      } else if (!isWellFormed(input)) issues.push({ code: 'custom', message: MESSAGES.surrogate, input });
    })
    .meta({ maxLength: max });

export const userId = exactText(MAX_ID);

/** The maximum number of characters of the name of a source. */
export const MAX_SOURCE_ID = 1_024;
export const sourceId = exactText(MAX_SOURCE_ID);

const userIds = optionalNull(list(userId, { max: MAX_USERS }));

/** Access lists in an ingest. */
export const accessControl = z.object({ readers: userIds, writers: userIds, admins: userIds });

const emptied = list(userId, { max: MAX_USERS })
  .nullish()
  .transform((ids) => (ids === null ? [] : ids));

/** Access lists in a change by RFC 7396: null takes all ids out of a list, and none of the lists can be taken away. */
export const accessControlMerge = z.object({
  readers: emptied,
  writers: emptied,
  admins: list(userId, { min: 1, max: MAX_USERS })
    .optional()
    .transform((ids) => ids),
});

/** Access lists in a change: at least one admin must remain who can change them again. */
export const accessControlChange = accessControl.extend({
  admins: optionalNull(list(userId, { min: 1, max: MAX_USERS })),
});

type StatedLists = { readonly [Name in keyof AccessLists]?: string[] | undefined };

/** Leaves out the lists that the request does not state. */
export function statedLists({ readers, writers, admins }: StatedLists): Partial<AccessLists> {
  return { ...(readers && { readers }), ...(writers && { writers }), ...(admins && { admins }) };
}
