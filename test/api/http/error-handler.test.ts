import { expect, test } from '@jest/globals';
import { describeError } from '../../../src/api/http/error-handler.js';
import {
  ConflictError,
  ForbiddenError,
  ImpossibleError,
  InvalidFieldError,
  NotFoundError,
  TooLargeError,
  TooManyError,
  TryLaterError,
  UnsupportedTypeError,
} from '../../../src/shared/errors.js';

test.each([
  [new ImpossibleError('why'), 400],
  [new ForbiddenError('why'), 403],
  [new NotFoundError('why'), 404],
  [new ConflictError('why'), 409],
  [new TooLargeError('why'), 413],
  [new UnsupportedTypeError('why'), 415],
  [new TooManyError('why'), 429],
  [new TryLaterError('why'), 503],
])('%s is answered with its sentence as %d', (error, status) => {
  expect(describeError(error)).toEqual({ status, detail: 'why', headers: {} });
});

test('when to ask again becomes a Retry-After of whole seconds, one at least', () => {
  const headersOf = (retryAfterSeconds: number) =>
    describeError(new ConflictError('why', { retryAfterSeconds })).headers;
  expect(headersOf(30)).toEqual({ 'Retry-After': '30' });
  expect(headersOf(1.2)).toEqual({ 'Retry-After': '2' });
  expect(headersOf(0.01)).toEqual({ 'Retry-After': '1' });
});

test('a field that cannot be taken is answered as a failed validation', () => {
  const { status, detail } = describeError(
    new InvalidFieldError('metadata', 'why', { value: 3, of: 'bytes' }),
  );
  const item = { loc: ['body', 'metadata'], msg: 'why', ctx: { limit_value: 3 } };
  expect([status, detail]).toEqual([422, [{ ...item, type: 'value_error' }]]);
  const long = describeError(new InvalidFieldError('metadata', 'why', { value: 3, of: 'items' }));
  expect(long.detail).toEqual([{ ...item, type: 'value_error.list.max_items' }]);
});
