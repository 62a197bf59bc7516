import { z } from 'zod';
import type { ValidationItem } from '../../../shared/errors.js';
import { parseFilter, type Filter } from '../../../shared/filters/parse.js';
import { HttpError } from '../../http/http-error.js';
import { list, optionalNull } from '../../http/validation/field-schemas.js';

const MAX_CONDITIONS = 32;
const MAX_NAMES = 16;

type Value = string | number | boolean | null | readonly (string | number)[];

const condition = z.object({
  name: z
    .union([z.string(), z.array(z.string()).min(1).max(MAX_NAMES)])
    .describe('A key of the metadata, or several of which one is enough.'),
  comparison_operator: z.string().describe('An operator of Dify, such as `contains`, `is`, `≥` or `before`.'),
  value: optionalNull(
    z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]),
  ),
});

export const metadataCondition = z.object({
  logical_operator: optionalNull(z.enum(['and', 'or'])),
  conditions: optionalNull(list(condition, { max: MAX_CONDITIONS })),
});

/** Makes one of our filters of the conditions of Dify. @throws HttpError 422 for an operator that has no counterpart */
export function toFilter(asked: z.output<typeof metadataCondition> | undefined): Filter | null {
  const conditions = asked?.conditions ?? [];
  if (!asked || conditions.length === 0) return null;
  const parts = conditions.map(({ name, comparison_operator: operator, value }, index) => {
    const make = OPERATORS.get(operator.trim().toLowerCase());
    if (!make) throw refusal([{ loc: [index, 'comparison_operator'], msg: UNKNOWN, type: 'value_error' }]);
    const names = typeof name === 'string' ? [name] : name;
    const each = names.map((key) => make(key, value ?? null));
    return each.length === 1 ? each[0] : { $or: each };
  });
  const parsed = parseFilter({ [asked.logical_operator === 'or' ? '$or' : '$and']: parts });
  if ('filter' in parsed) return parsed.filter;
  // The place in our filter begins with the list of conditions.
  throw refusal(parsed.errors.map((error) => ({ ...error, loc: error.loc.slice(2) })));
}

const refusal = (items: readonly ValidationItem[]): HttpError =>
  new HttpError(
    422,
    items.map(({ loc, ...item }) => ({
      ...item,
      loc: ['body', 'metadata_condition', 'conditions', ...loc],
    })),
  );

/** Makes a filter in our language. */
type Make = (key: string, value: Value) => Readonly<Record<string, unknown>>;

const not =
  (make: Make): Make =>
  (key, value) => ({ $not: make(key, value) });

const is: Make = (key, value) => ({ [key]: { $in: alikeOf(value) } });
const isAmong: Make = (key, value) => ({ [key]: { $in: listOf(value).flatMap(alikeOf) } });
const contains: Make = (key, value) => ({ [key]: { $contains: value } });
const startsWith: Make = (key, value) => ({ [key]: { $startsWith: value } });
const isEmpty: Make = (key) => ({ $or: [{ [key]: { $exists: false } }, { [key]: { $in: ['', null] } }] });
const compare =
  (operator: '$gt' | '$gte' | '$lt' | '$lte', toOperand: (value: Value) => unknown): Make =>
  (key, value) => ({ [key]: { [operator]: toOperand(value) } });

/** Dify sends numbers as texts. */
function numberOf(value: Value): unknown {
  const isNumber = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
  return isNumber ? Number(value) : value;
}

/** Times are texts with us, and may be seconds since 1970 with Dify. */
function timeOf(value: Value): unknown {
  const seconds = numberOf(value);
  const isTime = typeof seconds === 'number' && Math.abs(seconds) <= MAX_SECONDS;
  return isTime ? new Date(1_000 * seconds).toISOString() : value;
}

/** The last second that a date of JavaScript may name. */
const MAX_SECONDS = 8_640_000_000_000;

/** A value as a text and as a number, since Dify does not tell one from the other. */
function alikeOf(value: Value): unknown[] {
  const number = numberOf(value);
  if (typeof value === 'number') return [value, String(value)];
  return number === value ? [value] : [value, number];
}

const listOf = (value: Value): readonly (string | number | boolean | null)[] => {
  if (typeof value === 'object' && value !== null) return value;
  return typeof value === 'string' ? value.split(',').map((each) => each.trim()) : [value];
};

const OPERATORS: ReadonlyMap<string, Make> = new Map([
  ['contains', contains],
  ['not contains', not(contains)],
  ['start with', startsWith],
  ['is', is],
  ['is not', not(is)],
  ['in', isAmong],
  ['not in', not(isAmong)],
  ['empty', isEmpty],
  ['not empty', not(isEmpty)],
  ['=', is],
  ['≠', not(is)],
  ['!=', not(is)],
  ['>', compare('$gt', numberOf)],
  ['<', compare('$lt', numberOf)],
  ['≥', compare('$gte', numberOf)],
  ['>=', compare('$gte', numberOf)],
  ['≤', compare('$lte', numberOf)],
  ['<=', compare('$lte', numberOf)],
  ['before', compare('$lt', timeOf)],
  ['after', compare('$gt', timeOf)],
]);
const UNKNOWN = `value is not a known operator; known: ${[...OPERATORS.keys()].join(', ')}`;
