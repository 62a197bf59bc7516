import { optionalOr, queryInteger } from './field-schemas.js';

/** The parameters of lists that come in pages. */
export const page = {
  skip: optionalOr(queryInteger({ ge: 0 }), 0).describe('How many to leave out at the beginning.'),
  limit: optionalOr(queryInteger({ ge: 1, le: 100 }), 100).describe('At most this many are returned.'),
};
