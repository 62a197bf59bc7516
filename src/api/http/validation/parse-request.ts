import type { z } from 'zod';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { ValidationItem } from '../../../shared/errors.js';
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
