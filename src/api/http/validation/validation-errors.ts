import { z } from 'zod';
import type { ValidationItem } from '../../../shared/errors.js';
import { isPlainObject } from '../../../shared/json-values.js';
import { HttpError } from '../http-error.js';

/** The maximum number of mistakes of a request that are reported, even if it is a megabyte of mistakes. */
export const MAX_ITEMS = 100;

export const MESSAGES = {
  missing: 'field required',
  none: 'none is not an allowed value',
  integer: 'value is not a valid integer',
  float: 'value is not a valid float',
  bool: 'value could not be parsed to a boolean',
  dict: 'value is not a valid dict',
  json: 'Invalid JSON',
  surrogate: 'string holds half of a surrogate pair',
} as const;

/** The type of the error for half a surrogate pair: in UTF-8, different ones could not be told apart. */
export const SURROGATE = 'value_error.str.surrogate';

/** Error types of the messages that a schema states itself, because zod's own issue says too little. */
const TYPES: ReadonlyMap<string, string> = new Map([
  [MESSAGES.integer, 'type_error.integer'],
  [MESSAGES.float, 'type_error.float'],
  [MESSAGES.bool, 'type_error.bool'],
  [MESSAGES.dict, 'type_error.dict'],
  [MESSAGES.json, 'value_error.jsondecode'],
  [MESSAGES.surrogate, SURROGATE],
]);

type Issue = z.core.$ZodIssue;
type Failure = Omit<ValidationItem, 'loc'>;

/** Converts the issues of a parse with `reportInput`: one item for each place, wrong types before wrong values. */
function toValidationItems(issues: readonly Issue[], location: string): ValidationItem[] {
  const items = new Map<string, ValidationItem>();
  for (const issue of issues) {
    const loc = [location, ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))];
    const place = JSON.stringify(loc);
    if (items.get(place)?.type.startsWith('type_error') === true) continue;
    items.set(place, { loc, ...describeIssue(issue) });
    if (items.size === MAX_ITEMS) break;
  }
  return [...items.values()];
}

const itemParams = z.object({ item: z.object({ type: z.string(), limit: z.number().optional() }) });

/** Lets a refinement or transform fail with an item of its own. `loc` is relative to the place of the schema. */
export function addItem(context: z.RefinementCtx, { loc, msg, type, ctx }: ValidationItem): void {
  const item: z.infer<typeof itemParams>['item'] = { type, limit: ctx?.limit_value };
  context.addIssue({ code: 'custom', path: [...loc], message: msg, params: { item } });
}

function describeIssue(issue: Issue): Failure {
  const own = issue.code === 'custom' ? itemParams.safeParse(issue.params).data : undefined;
  if (own) return withLimit(issue.message, own.item.type, own.item.limit);
  if (issue.input === undefined) return { msg: MESSAGES.missing, type: 'value_error.missing' };
  if (issue.input === null) return { msg: MESSAGES.none, type: 'type_error.none.not_allowed' };
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue.expected, issue.message);
    case 'invalid_value':
      return describeEnumeration(issue.values);
    case 'too_small':
      return describeMinimum(issue);
    case 'too_big':
      return describeMaximum(issue);
    case 'invalid_format':
      return describeFormat(issue);
    default:
      return { msg: issue.message, type: TYPES.get(issue.message) ?? 'value_error' };
  }
}

function describeType(expected: string, message: string): Failure {
  const stated = TYPES.get(message);
  if (stated !== undefined) return { msg: message, type: stated };
  switch (expected) {
    case 'string':
      return { msg: 'str type expected', type: 'type_error.str' };
    case 'int':
      return { msg: MESSAGES.integer, type: 'type_error.integer' };
    case 'number':
      return { msg: MESSAGES.float, type: 'type_error.float' };
    case 'boolean':
      return { msg: MESSAGES.bool, type: 'type_error.bool' };
    case 'array':
      return { msg: 'value is not a valid list', type: 'type_error.list' };
    case 'object':
    case 'record':
      return { msg: MESSAGES.dict, type: 'type_error.dict' };
    default:
      return { msg: message, type: 'type_error' };
  }
}

function describeEnumeration(values: readonly z.core.util.Primitive[]): Failure {
  const permitted = values.map((value) => `'${String(value)}'`).join(', ');
  return {
    msg: `value is not a valid enumeration member; permitted: ${permitted}`,
    type: 'type_error.enum',
  };
}

function describeFormat({ format, pattern }: z.core.$ZodIssueInvalidStringFormat): Failure {
  const rule = pattern === undefined ? format : `regex "${pattern.replace(/^\/|\/$/g, '')}"`;
  return { msg: `string does not match ${rule}`, type: 'value_error.str.regex' };
}

function describeMinimum({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): Failure {
  const limit = Number(minimum);
  if (origin === 'string') {
    return withLimit(
      `ensure this value has at least ${String(limit)} characters`,
      'value_error.any_str.min_length',
      limit,
    );
  }
  if (origin === 'array') {
    return withLimit(
      `ensure this value has at least ${String(limit)} items`,
      'value_error.list.min_items',
      limit,
    );
  }
  const relation = inclusive === false ? 'greater than' : 'greater than or equal to';
  const type = inclusive === false ? 'value_error.number.not_gt' : 'value_error.number.not_ge';
  return withLimit(`ensure this value is ${relation} ${String(limit)}`, type, limit);
}

function describeMaximum({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): Failure {
  const limit = Number(maximum);
  if (origin === 'string') {
    return withLimit(
      `ensure this value has at most ${String(limit)} characters`,
      'value_error.any_str.max_length',
      limit,
    );
  }
  if (origin === 'array') {
    return withLimit(
      `ensure this value has at most ${String(limit)} items`,
      'value_error.list.max_items',
      limit,
    );
  }
  const relation = inclusive === false ? 'less than' : 'less than or equal to';
  const type = inclusive === false ? 'value_error.number.not_lt' : 'value_error.number.not_le';
  return withLimit(`ensure this value is ${relation} ${String(limit)}`, type, limit);
}

function withLimit(msg: string, type: string, limit: number | undefined): Failure {
  return limit === undefined ? { msg, type } : { msg, type, ctx: { limit_value: limit } };
}

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

/** Parses like `parseRequest`, but adds the failures to a list, so that all failures of a request are told together. */
export const parseInto =
  (failures: ValidationItem[]) =>
  <Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    location: 'body' | 'query' | 'path' | 'header',
  ): z.output<Schema> | undefined => {
    try {
      return parseRequest(schema, value, location);
    } catch (error) {
      if (!(error instanceof HttpError) || typeof error.detail === 'string') throw error;
      failures.push(...error.detail);
      return undefined;
    }
  };

/** Takes the last value of a parameter that the query string repeats. */
function withLastOfEach(query: Record<string, unknown>): Record<string, unknown> {
  const last = (value: unknown): unknown => (Array.isArray(value) ? value.at(-1) : value);
  return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, last(value)]));
}
