import { z } from 'zod';
import { isWellFormed } from '../../../shared/well-formed.js';
import { isLonger, list, optionalNull } from './field-schemas.js';
import { MESSAGES } from './validation-errors.js';

/** The maximum number of characters of a user's id. */
const MAX_ID = 256;
/** The maximum number of users in each access list. */
const MAX_USERS = 1_000;

export const userId = z
  .string()
  .min(1)
  .check((context) => {
    const { value: input, issues } = context;
    if (isLonger(input, MAX_ID)) {
      issues.push({ code: 'too_big', origin: 'string', maximum: MAX_ID, inclusive: true, input });
    } else if (!isWellFormed(input)) issues.push({ code: 'custom', message: MESSAGES.surrogate, input });
  })
  .meta({ maxLength: MAX_ID });
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
