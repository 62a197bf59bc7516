import { z } from 'zod';
import { parseInstant } from '../../../shared/filters/instants.js';
import { addItem } from './validation-errors.js';

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
