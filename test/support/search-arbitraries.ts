import fc from 'fast-check';
import type { Json } from '../../src/shared/document.js';
import { filter, metadata } from './filter-arbitraries.js';
import type { SearchWorld } from './search-world.js';
import { anyCharacter } from './any-character.js';

export const CALLERS = ['owner', 'alice', 'bob', 'nobody'];

const words = [
  'harbour',
  'crane',
  'crane',
  'lantern',
  'ledger',
  'winter',
  'tariff',
  'barley',
  'the',
  'running',
  'Zürich',
  'naïve',
  'Ωmega',
  '漁港の灯台',
  'сеть',
  '3.14',
  'e-mail',
  '🐟',
  '@tags:{*}',
  '-@tags',
];
export const text = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 })
  .map((each) => each.join(' '));

/** Texts that a client may send to trip up a query language. */
const hostile = [
  '"',
  "'",
  '|',
  '}',
  '{',
  '*',
  '-@tags:{*}',
  ')=>[KNN 1000 @vector $v]',
  '\\',
  '\u0000',
  '$',
  '%x%',
  'a,b',
  ' ',
  '\n',
  'é',
  'é',
  '🐟🐟',
  '(',
  '~',
  '@generation',
  '\ud800',
  'x'.repeat(2_000),
];
const hostileText = fc.oneof(
  fc.constantFrom(...hostile),
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.array(fc.constantFrom(...hostile.slice(0, -1)), { maxLength: 4 }).map((each) => each.join('')),
);
const hostileKey = hostileText.filter((key) => !key.startsWith('$') && key !== '');
const hostileScalar = fc.oneof(
  hostileText,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

const hostileMetadata = fc
  .array(fc.tuple(hostileKey, fc.oneof(hostileScalar, fc.array(hostileScalar, { maxLength: 3 }))), {
    maxLength: 4,
  })
  .map((entries): Record<string, Json> => Object.fromEntries(entries));

const document = fc.record({
  ownerId: fc.constantFrom('owner', 'alice'),
  readers: fc.subarray(CALLERS),
  writers: fc.subarray(CALLERS, { maxLength: 1 }),
  admins: fc.subarray(CALLERS, { maxLength: 1 }),
  day: fc.integer({ min: 1, max: 3 }),
  metadata: fc.oneof({ arbitrary: metadata, weight: 3 }, { arbitrary: hostileMetadata, weight: 1 }),
  texts: fc.array(text, { maxLength: 4 }),
  /** The fate of it after it was published. */
  fate: fc.constantFrom(
    ...(['none', 'none', 'none', 'replaced', 'overwritten', 'patched'] as const),
    ...(['removed', 'left behind', 'abandoned', 'cancelled'] as const),
  ),
  later: fc.record({
    texts: fc.array(text, { minLength: 1, maxLength: 3 }),
    metadata,
    readers: fc.subarray(CALLERS),
  }),
});
export const documents = fc.array(document, { minLength: 3, maxLength: 25 });
export type RandomDocument = typeof document extends fc.Arbitrary<infer Value> ? Value : never;

const ask = {
  callerId: fc.constantFrom(...CALLERS),
  query: fc.oneof(text, fc.constantFrom('harbour crane', 'ledger', '漁港', '?', 'unheard-of')),
  k: fc.constantFrom(1, 3, 10, 100),
  minScore: fc.constantFrom(0, 0, 0.05, 0.3),
  per: fc.constantFrom('chunk' as const, 'document' as const),
  skip: fc.constantFrom(0, 0, 1, 5),
};
export const question = fc.record({ ...ask, filter: fc.option(filter, { freq: 8 }) });
export type RandomQuestion = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

/** Filters over these documents' own keys and values, so that they meet, with whatever is in them. */
export function questionAbout(all: readonly RandomDocument[]): fc.Arbitrary<RandomQuestion> {
  const leaves = all.flatMap(({ metadata: of }) =>
    Object.entries(of).flatMap(([key, value]): [string, Json][] =>
      (Array.isArray(value) ? value : [value]).map((each) => [key, each]),
    ),
  );
  const scalars = leaves.filter(
    ([key, value]) => !key.startsWith('$') && (typeof value !== 'object' || value === null),
  );
  if (scalars.length === 0) return question;
  const leaf = fc.constantFrom(...scalars);
  const condition = fc.oneof(
    leaf.map(([key, value]) => ({ [key]: value })),
    leaf.map(([key, value]) => ({ [key]: { $ne: value } })),
    leaf.map(([key]) => ({ [key]: { $exists: false } })),
    fc.tuple(leaf, leaf).map(([[key, value], [, other]]) => ({ [key]: { $in: [other, value] } })),
    fc
      .tuple(leaf, fc.constantFrom('$gt', '$gte', '$lt', '$lte'))
      .map(([[key, value], operator]) => ({ [key]: { [operator]: typeof value === 'number' ? value : 0 } })),
  );
  const mixed = fc.oneof(
    condition,
    fc.array(condition, { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
    fc.array(condition, { minLength: 1, maxLength: 3 }).map(($and) => ({ $not: { $and } })),
  );
  return fc.record({
    ...ask,
    filter: fc.oneof({ arbitrary: mixed, weight: 2 }, { arbitrary: filter, weight: 1 }),
  });
}

/** A document and what befell it. */
export async function putDocument(world: SearchWorld, each: RandomDocument): Promise<void> {
  const { ownerId, readers, writers, admins, day, metadata, texts, fate, later } = each;
  const createdAt = `2026-01-0${String(day)}T00:00:00.000Z`;
  const id = await world.create({ ownerId, readers, writers, admins, createdAt, metadata });
  if (texts.length > 0) await world.publish(id, texts);
  switch (fate) {
    case 'none':
      return;
    case 'replaced':
    case 'overwritten':
      return world.replace(id, later.texts, fate === 'replaced');
    case 'patched':
      return world.patch(id, { metadata: later.metadata, readers: later.readers });
    case 'removed':
    case 'left behind':
      return world.remove(id, fate === 'removed');
    case 'abandoned':
    case 'cancelled':
      return world.abandon(id, later.texts, fate === 'cancelled');
  }
}
