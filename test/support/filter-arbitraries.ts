import fc from 'fast-check';
import type { Json } from '../../src/shared/document.js';
import { parseFilter } from '../../src/shared/filters/parse.js';

/** Few values and keys, so that random filters and documents meet often. */
const scalars: readonly (string | number | boolean | null)[] = [
  0,
  -0,
  1,
  2,
  2.5,
  '1',
  '',
  'red',
  'alice',
  'owner',
  true,
  false,
  null,
  '2024-01-01',
  '2024-01-01T00:00:00Z',
  '2024-01-01T01:00:00+02:00',
  '2025-06-07T08:09:10.125Z',
  // The same word in Unicode's normal forms C and D.
  'Z\u00fcrich.txt',
  'Zu\u0308rich.txt',
];
export const scalar = fc.constantFrom(...scalars);

const key = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'b.a',
  'filename',
  'created_at',
  '__proto__',
  'constructor',
  'system_metadata.owner',
);

const { value } = fc.letrec<{ value: Json; object: Record<string, Json> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(fc.oneof(scalar, fc.constant<Json>([1]), tie('object'), tie('value')), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries)),
}));
export const metadata = fc
  .array(fc.tuple(key, value), { maxLength: 5 })
  .map((entries): Record<string, Json> => Object.fromEntries(entries));

export const path = fc.oneof(
  key,
  fc.constantFrom(
    'system_metadata.owner',
    'a.b.a',
    'a.a',
    'a.a.b',
    'b.a.b',
    'external_id',
    'content_type',
    'filename.a',
    'c',
  ),
);

const date = fc.constantFrom(
  '2024-01-01',
  '2024-01-01T00:00:00+01:00',
  '2025-06-07T10:09:10.125+02:00',
  'now',
  'now-1000d/M',
  'now+9y',
);
/** Parts of the scalars, in both of Unicode's normal forms. */
const part = fc.constantFrom(
  'r',
  're',
  'ed',
  'Z',
  'Zu',
  'Z\u00fc',
  '\u0308rich',
  '.txt',
  '-01',
  '2024-01',
  'red',
  'R',
);
const sought = fc.oneof(
  part,
  scalar.filter((value) => value !== ''),
);
const bound = fc.oneof(fc.constantFrom(0, 1, 2, -1), date);
const operator = fc.oneof(
  fc.tuple(fc.constantFrom('$eq', '$ne'), scalar),
  fc.tuple(fc.constantFrom('$in', '$nin'), fc.array(scalar, { maxLength: 3 })),
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), bound),
  fc.tuple(fc.constant('$exists'), fc.boolean()),
  fc.tuple(fc.constant('$startsWith'), part),
  fc.tuple(fc.constant('$contains'), sought),
  fc.tuple(fc.constant('$containsAny'), fc.array(sought, { maxLength: 3 })),
);
const operators = fc.array(operator, { minLength: 1, maxLength: 2 }).map(fromEntries);
const condition = fc.oneof(
  scalar,
  operators,
  operators.map((inner) => ({ $not: inner })),
);

const { filter: anyFilter } = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    fc.array(fc.tuple(path, condition), { minLength: 1, maxLength: 3 }).map(fromEntries),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((parts) => ({ $and: parts })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((parts) => ({ $or: parts })),
    tie('filter').map((part) => ({ $not: part })),
  ),
}));

/** Filters that a client may send: within the limits of all conditions together. */
export const filter = anyFilter.filter((json) => 'filter' in parseFilter(json));

function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries);
}
