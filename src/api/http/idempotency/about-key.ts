import type { ValidationItem } from '../../../shared/errors.js';

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** Makes the error about the key of a request. */
export const aboutKey = (msg: string, type = 'value_error', limit?: number): ValidationItem => {
  const item = { loc: ['header', IDEMPOTENCY_HEADER], msg, type };
  return limit === undefined ? item : { ...item, ctx: { limit_value: limit } };
};
