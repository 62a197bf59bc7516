import { z } from 'zod';
import type { Metadata } from '../../../shared/document.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { isWellFormed, toWellFormed } from '../../../shared/well-formed.js';
import { HttpError } from '../http-error.js';
import { checkMetadata } from './metadata.js';
import { addItem, MAX_ITEMS, MESSAGES, toValidationItems } from './validation-errors.js';

/**
 * Parses a part of a request.
 * @throws HttpError 422 that lists all failures in the vocabulary of pydantic 1
 */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  location: 'body' | 'query' | 'path' | 'header',
): z.output<Schema> {
  const input = location === 'query' && isPlainObject(value) ? withLastOfEach(value) : value;
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw new HttpError(422, toValidationItems(result.error.issues, location));
}

/** Of a parameter that a query string repeats, the last one counts. */
function withLastOfEach(query: Record<string, unknown>): Record<string, unknown> {
  const last = (value: unknown): unknown => (Array.isArray(value) ? value.at(-1) : value);
  return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, last(value)]));
}

/** What a schema that only code can check says in the OpenAPI page; each step of it must say so. */
const OBJECT_SCHEMA = { type: 'object', additionalProperties: true } as const;

interface Bounds {
  readonly ge?: number;
  readonly le?: number;
}

/** An integer of a JSON body: neither "4" nor 2.5. */
export function jsonInteger({ ge, le }: Bounds = {}) {
  return z.int({ error: MESSAGES.integer }).check(...bounds({ ge, le }));
}

/** A number of a JSON body; 4 is a float. */
export function jsonFloat({ ge, le }: Bounds = {}) {
  return z.number({ error: MESSAGES.float }).check(...bounds({ ge, le }));
}

function bounds({ ge, le }: { ge: number | undefined; le: number | undefined }) {
  return [...(ge === undefined ? [] : [z.gte(ge)]), ...(le === undefined ? [] : [z.lte(le)])];
}

/** An integer written out in a query string. */
export function queryInteger(limits: Bounds = {}) {
  return z.preprocess(numberWritten(/^\s*[+-]?\d+\s*$/), jsonInteger(limits));
}

/** A number written out in a query string. */
export function queryFloat(limits: Bounds = {}) {
  return z.preprocess(
    numberWritten(/^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/),
    jsonFloat(limits),
  );
}

function numberWritten(pattern: RegExp) {
  return (value: unknown): unknown =>
    typeof value === 'string' && pattern.test(value) ? Number(value) : value;
}

/**
 * A text with more than white space in it; `max` counts characters, not UTF-16 units. Halves of surrogate pairs are
 * replaced, as everywhere in what is shown or searched; what is compared is refused with them.
 */
export function nonBlankString({ max }: { max?: number } = {}) {
  const text = z.string().check(z.overwrite(toWellFormed), (context) => {
    const { value: input, issues } = context;
    if (!/\S/.test(input)) {
      issues.push({ code: 'too_small', origin: 'string', minimum: 1, inclusive: true, input });
    } else if (max !== undefined && isLonger(input, max)) {
      issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input });
    }
  });
  return text.meta({ minLength: 1, ...(max === undefined ? {} : { maxLength: max }) });
}

function isLonger(text: string, max: number): boolean {
  if (text.length <= max || text.length > 2 * max) return text.length > max;
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g) ?? [];
  return text.length - pairs.length > max;
}

/** A field of a JSON body that may be absent; `null` is the same. */
export function optionalNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A field of a JSON body that stands for `fallback` when absent or null. */
export function optionalNullOr<Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) {
  return schema
    .nullish()
    .meta({ override: { default: fallback } })
    .transform((value) => value ?? fallback);
}

/** A query parameter that stands for `fallback` when absent. */
export function optionalOr<Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) {
  return schema
    .optional()
    .meta({ override: { default: fallback } })
    .transform((value) => value ?? fallback);
}

/** A JSON object of any content, passed on as it is (a copy would lose a key named `__proto__`). */
export const dict = z
  .custom<Record<string, unknown>>(isPlainObject, { error: MESSAGES.dict, abort: true })
  .meta({ override: OBJECT_SCHEMA });

interface ListLimits {
  readonly min?: number;
  readonly max?: number;
}

export function list<Item extends z.ZodType>(item: Item, { min, max }: ListLimits = {}) {
  const items = z
    .array(item)
    .check(
      ...(min === undefined ? [] : [z.minLength(min)]),
      ...(max === undefined ? [] : [z.maxLength(max)]),
    );
  return z.preprocess((value) => (Array.isArray(value) ? cutAfterFailures(value, item, max) : value), items);
}

/** Ends a list at the last mistake that is answered, so that a million wrong items do not make a million issues. */
function cutAfterFailures(values: readonly unknown[], item: z.ZodType, max = Infinity): readonly unknown[] {
  if (values.length > max) return values;
  let failures = 0;
  for (const [index, value] of values.entries()) {
    if (!item.safeParse(value).success) failures += 1;
    if (failures === MAX_ITEMS) return values.slice(0, index + 1);
  }
  return values;
}

/** A document's metadata: at most 16 KiB of JSON, 128 leaves and 64 levels. */
export const metadata = z
  .custom<Metadata>(isPlainObject, { error: MESSAGES.dict, abort: true })
  .meta({ override: OBJECT_SCHEMA })
  .superRefine((value, context) => {
    const item = checkMetadata(value);
    if (item) addItem(context, item);
  })
  .meta({ override: OBJECT_SCHEMA });

const MAX_ID = 256;
const userId = z
  .string()
  .min(1)
  .check((context) => {
    const { value: input, issues } = context;
    if (isLonger(input, MAX_ID)) {
      issues.push({ code: 'too_big', origin: 'string', maximum: MAX_ID, inclusive: true, input });
    } else if (!isWellFormed(input)) issues.push({ code: 'custom', message: MESSAGES.surrogate, input });
  })
  .meta({ maxLength: MAX_ID });
const userIds = optionalNull(list(userId, { max: 1000 }));

/** Access lists as an ingest may state them. */
export const accessControl = z.object({ readers: userIds, writers: userIds, admins: userIds });

/** Access lists as a change may state them: somebody must stay able to change them. */
export const accessControlChange = accessControl.extend({
  admins: optionalNull(list(userId, { min: 1, max: 1000 })),
});
