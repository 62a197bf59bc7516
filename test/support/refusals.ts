import type { z } from 'zod';
import { parseRequest } from '../../src/api/http/validation/validation-errors.js';
import { HttpError } from '../../src/api/http/http-error.js';

/** The items of the 422 that a value gets; none when it passes. */
export function refusals(schema: z.ZodType, value: unknown, location: 'body' | 'query' = 'body'): unknown {
  try {
    parseRequest(schema, value, location);
  } catch (error) {
    if (error instanceof HttpError && error.status === 422) return error.detail;
    throw error;
  }
  return [];
}
