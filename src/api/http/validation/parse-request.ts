import type { z } from 'zod';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { HttpError } from '../http-error.js';
import { toValidationItems } from './validation-errors.js';

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

/** Takes the last value of a parameter that the query string repeats. */
function withLastOfEach(query: Record<string, unknown>): Record<string, unknown> {
  const last = (value: unknown): unknown => (Array.isArray(value) ? value.at(-1) : value);
  return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, last(value)]));
}
