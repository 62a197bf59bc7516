import { z } from 'zod';
import { parseInstant } from '../../../shared/filters/instants.js';
import { isPlainObject, toWellFormed } from '../../../shared/json-values.js';
import { MAX_ITEMS, MESSAGES, addItem } from './validation-errors.js';

/** The OpenAPI schema of an object that only code can check. Each zod step of such a field must carry it. */
export const OBJECT_SCHEMA = { type: 'object', additionalProperties: true } as const;

interface Bounds {
  readonly ge?: number;
  readonly le?: number;
}

/** An integer in a JSON body; neither "4" nor 2.5 is one. */
export function jsonInteger({ ge, le }: Bounds = {}) {
  return z.int({ error: MESSAGES.integer }).check(...bounds({ ge, le }));
}

/** A number in a JSON body; 4 counts as a float. */
export function jsonFloat({ ge, le }: Bounds = {}) {
  return z.number({ error: MESSAGES.float }).check(...bounds({ ge, le }));
}

function bounds({ ge, le }: { ge: number | undefined; le: number | undefined }) {
  return [...(ge === undefined ? [] : [z.gte(ge)]), ...(le === undefined ? [] : [z.lte(le)])];
}

/** An integer in a query string. */
export function queryInteger(limits: Bounds = {}) {
  return z.preprocess(numberWritten(/^\s*[+-]?\d+\s*$/), jsonInteger(limits));
}

/** A number in a query string. */
export function queryFloat(limits: Bounds = {}) {
  return z.preprocess(
    numberWritten(/^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/),
    jsonFloat(limits),
  );
}

const TRUE = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'f', 'n']);

/** A boolean in a query string, in the words of pydantic 1. */
export const queryBoolean = z.preprocess(
  (value) => {
    const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
    if (typeof word !== 'string') return word;
    return TRUE.has(word) || (FALSE.has(word) ? false : word);
  },
  z.boolean({ error: MESSAGES.bool }),
);

function numberWritten(pattern: RegExp) {
  return (value: unknown): unknown =>
    typeof value === 'string' && pattern.test(value) ? Number(value) : value;
}

/**
 * A text that holds more than white space. `max` counts characters, not UTF-16 units. Halves of surrogate pairs are
 * replaced by U+FFFD, as in all text that is shown or searched; in values that are compared they are refused.
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

/** Counts characters, and only where UTF-16 units cannot tell. */
export function isLonger(text: string, max: number): boolean {
  if (text.length <= max || text.length > 2 * max) return text.length > max;
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g) ?? [];
  return text.length - pairs.length > max;
}

/** A field of a JSON body that may be absent; `null` means the same. */
export function optionalNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A field of a JSON body that is `fallback` when it is absent or null. */
export function optionalNullOr<Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) {
  return schema
    .nullish()
    .meta({ override: { default: fallback } })
    .transform((value) => value ?? fallback);
}

/** A query parameter that is `fallback` when it is absent. */
export function optionalOr<Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) {
  return schema
    .optional()
    .meta({ override: { default: fallback } })
    .transform((value) => value ?? fallback);
}

/** Any JSON object. It is passed on as it is, because a copy would lose a key named `__proto__`. */
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

/** Cuts a list after the last mistake that is reported, so that a million wrong items do not make a million issues. */
function cutAfterFailures(values: readonly unknown[], item: z.ZodType, max = Infinity): readonly unknown[] {
  if (values.length > max) return values;
  let failures = 0;
  for (const [index, value] of values.entries()) {
    if (!item.safeParse(value).success) failures += 1;
    if (failures === MAX_ITEMS) return values.slice(0, index + 1);
  }
  return values;
}

/** A point in time in a query string (ISO 8601, UTC when no zone is given), as milliseconds since 1970. */
export const queryInstant = z
  .string()
  .transform((text, context) => {
    // The plus of `+02:00` arrives as a space when the client did not encode it.
    const instant = parseInstant(text.trim().replace(/^(.{16,}) (\d{2}:?\d{2})$/, '$1+$2'));
    if (instant !== null) return instant;
    addItem(context, { loc: [], msg: 'invalid datetime format', type: 'value_error.datetime' });
    return z.NEVER;
  })
  .meta({ format: 'date-time' });
