import type { Json } from '../../src/shared/document.js';
import type { SearchWorld } from './search-world.js';

/** Numbers of a generator of its own, so that every run has the same data (Park and Miller 1988). */
function createNumbers(seed: number) {
  let state = seed;
  const below = (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit;
  return {
    below,
    /** Small ones mostly: how often words are used falls with their rank (Zipf). */
    skewed: (limit: number) => Math.floor(limit ** (below(1_000_000) / 1_000_000)) - 1,
  };
}

const VOCABULARY = 6_000;
const SYLLABLES = ['ba', 'ke', 'lo', 'mu', 'ni', 'ra', 'so', 'ti', 'vu', 'ze', 'dor', 'fel'];

/** A word of the vocabulary that no stemmer shortens to another. */
function wordAt(rank: number): string {
  let word = '';
  for (let rest = rank + SYLLABLES.length ** 2; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length] ?? '';
  return word;
}

/** Words of a query: some that many chunks hold, some that few do. */
const RANKS = [
  [3, 40, 260],
  [1, 12, 90, 500, 1_200],
  [25, 30],
  [0, 2, 7, 60, 150, 420, 900, 2_000],
];
export const QUERIES = RANKS.map((ranks) => ranks.map(wordAt).join(' '));

/** Owns most; the others own some, or nothing and read what lists let them. */
export const OWNER = 'owner';
export const OTHERS = ['partner', 'reader'];
const THOUSANDS = { documents: 340, chunksEach: 20 };
const COLOURS = ['red', 'green', 'blue', 'black'];

type Numbers = ReturnType<typeof createNumbers>;

function makeText({ below, skewed }: Numbers): string {
  return Array.from({ length: 20 + below(100) }, () => wordAt(skewed(VOCABULARY))).join(' ');
}

function makeMetadata(n: number, { below }: Numbers): Record<string, Json> {
  return {
    n,
    always: true,
    colour: COLOURS[n % 4] ?? '',
    price: below(1_000) / 10,
    tags: [`t${String(n % 3)}`, `t${String(n % 5)}`],
    day: `2026-0${String(1 + (n % 9))}-10`,
    place: { city: n % 2 === 0 ? 'Oslo' : 'Lima', floor: n % 7 },
    ...(n % 6 === 0 ? { rare: n } : {}),
    ...(n % 4 === 0 ? { nothing: null } : {}),
  };
}

/** Documents of two owners, most of them read by a third caller, too. */
export async function fillWorld(world: SearchWorld, { documents, chunksEach } = THOUSANDS): Promise<void> {
  const numbers = createNumbers(11);
  for (let n = 0; n < documents; n += 1) {
    const ownerId = n % 4 === 3 ? 'partner' : OWNER;
    const lists = [ownerId, ...(n % 3 === 0 ? [] : ['reader'])];
    const id = await world.create({
      ownerId,
      readers: lists,
      writers: [ownerId],
      admins: [ownerId],
      metadata: makeMetadata(n, numbers),
    });
    await world.publish(
      id,
      Array.from({ length: chunksEach }, () => makeText(numbers)),
    );
  }
}

/** Adds documents and versions that are written and not published yet, and would come before all else. */
export async function hideInWorld(world: SearchWorld, generations: number): Promise<void> {
  const published = [...world.documents.values()].filter((each) => each.texts.length > 0);
  for (let n = 0; n < generations; n += 1) {
    const query = QUERIES[n % QUERIES.length] ?? '';
    const texts = [query, `${query} ${query}`];
    const known = published[n % published.length];
    if (n % 5 === 0 && known) {
      await world.abandon(known.record.id, texts, false);
      continue;
    }
    const metadata = makeMetadata(n, createNumbers(n + 1));
    const id = await world.create({ ownerId: OWNER, readers: [OWNER, ...OTHERS], metadata });
    await world.draft(id, texts);
  }
}

const thousand = Array.from({ length: 999 }, (_, i) => `colour ${String(i)}`);

/** Every operator and every way to put them together; each lets through more chunks than are looked at. */
export const FILTERS: readonly (readonly [string, Record<string, unknown> | null])[] = [
  ['none', null],
  ['a value', { always: true }],
  ['two values', { always: true, colour: 'red' }],
  ['an element of a list', { tags: 't1' }],
  ['$eq and a path', { 'place.city': { $eq: 'Oslo' } }],
  ['$ne', { colour: { $ne: 'red' } }],
  ['$in', { colour: { $in: ['red', 'blue'] } }],
  ['$in of a thousand', { colour: { $in: ['red', ...thousand] } }],
  ['$nin', { tags: { $nin: ['t0', 't4'] } }],
  ['$startsWith', { colour: { $startsWith: 're' } }],
  ['$contains of a list', { tags: { $contains: 't1' } }],
  ['$not of $contains', { colour: { $not: { $contains: 'lu' } } }],
  ['$exists', { nothing: { $exists: true } }],
  ['$exists: false', { rare: { $exists: false } }],
  ['null', { nothing: null }],
  ['$gt and $lt', { price: { $gt: 12.5, $lt: 80 } }],
  ['$gte and $lte of dates', { day: { $gte: '2026-02-01', $lte: '2026-07-31' } }],
  ['created_at', { created_at: { $gt: '2020-01-01' } }],
  ['$and', { $and: [{ always: true }, { n: { $gte: 20 } }, { colour: { $ne: 'black' } }] }],
  ['$or', { $or: [{ colour: 'red' }, { tags: 't2' }] }],
  ['$not', { $not: { colour: 'green' } }],
  ['$not of $and', { $not: { $and: [{ colour: 'green' }, { always: true }] } }],
  ['$not of $or', { $not: { $or: [{ colour: 'green' }, { rare: { $exists: true } }] } }],
  ['$or of $and', { $or: [{ $and: [{ colour: 'red' }, { tags: 't1' }] }, { 'place.floor': { $lt: 4 } }] }],
  [
    '$and of $or of $and',
    {
      always: true,
      $or: [{ $and: [{ $or: [{ colour: 'blue' }, { tags: 't0' }] }, { n: { $gt: 10 } }] }, { colour: 'red' }],
    },
  ],
  ['$or with $not inside', { $or: [{ $not: { colour: 'red' } }, { tags: 't0' }] }],
  ['$not of $not', { $not: { $not: { colour: { $in: ['red', 'green'] } } } }],
];
