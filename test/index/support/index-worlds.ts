import fc from 'fast-check';
import { loadMirror, type Mirrored } from '../../../src/shared/adapters/exact-index/mirror/mirror.js';
import { tieKey, type DocumentEntry, type LoadedChunks } from '../../../src/index/tables/document-table.js';
import { analyzeText } from '../../../src/shared/text/list-terms.js';
import { packTerms } from '../../../src/index/scoring/packed-terms.js';
import { makeEntry } from '../../support/index-entry.js';

const createMirror = await loadMirror();

export const USERS = ['anna', 'ben', 'cleo', 'dora'] as const;
const COLOURS = ['red', 'blue'] as const;
export const WORDS = ['harbour', 'lantern', 'meadow', 'the', 'granite', 'violin', 'orchard'] as const;
/** The data of a document that the mirror is told. */
export interface Row {
  readonly entry: DocumentEntry<Mirrored>;
  readonly attempt: string | null;
  readonly texts: readonly string[];
}

interface Fields {
  readonly owner: string;
  readonly readers: readonly string[];
  readonly colour: string;
}

function entryOf(id: string, createdAt: string, { owner, readers, colour }: Fields): DocumentEntry<Mirrored> {
  const statisticsOwner = readers.includes(owner) ? owner : null;
  return makeEntry(statisticsOwner, { id, createdAt, readers: [...readers], metadata: { colour } });
}

/** The packed terms of a text; an empty one has none. */
export const packedOf = (text: string): Uint8Array =>
  text === '' ? new Uint8Array(0) : packTerms(analyzeText(text));

/** A mirror, and the rows that it was told. */
export function openMirror() {
  const mirror = createMirror({ held: 'of-terms', onDirty: () => undefined });
  const rows = new Map<string, Row>();
  let attempts = 0;
  const load = (id: string, texts: readonly string[]): LoadedChunks => {
    attempts += 1;
    const loaded = { attempt: `.${String(attempts)}`, tie: tieKey(id), slots: [] };
    for (const text of texts) mirror.addTo(loaded, new Uint8Array(0), packedOf(text));
    return loaded;
  };
  return { mirror, rows, load };
}

export type World = ReturnType<typeof openMirror>;

const idOf = (n: number): string =>
  `${String(n % 7)}${String(n).padStart(7, '0')}-0000-4000-8000-000000000000`;
const timeOf = (n: number): string => new Date(1_700_000_000_000 + (n % 11) * 1_000).toISOString();

const text = fc.oneof(
  {
    arbitrary: fc.array(fc.constantFrom(...WORDS), { maxLength: 9 }).map((words) => words.join(' ')),
    weight: 5,
  },
  { arbitrary: fc.constant('the harbour'), weight: 2 },
);
const fields = fc.record({
  owner: fc.constantFrom(...USERS),
  readers: fc.subarray([...USERS]),
  colour: fc.constantFrom(...COLOURS),
});
const number = fc.nat({ max: 400 });
/** A change that a mirror is told of, or some of the work that waits. */
export const step = fc.oneof(
  fc.record({
    type: fc.constant('put' as const),
    number,
    fields,
    texts: fc.array(text, { maxLength: 6 }),
    copies: fc.constantFrom(1, 1, 1, 40, 300),
  }),
  // Many documents of one access list, most of which are never named again.
  fc.record({
    type: fc.constant('fill' as const),
    fields,
    texts: fc.array(text, { minLength: 1, maxLength: 4 }),
    count: fc.integer({ min: 1, max: 150 }),
  }),
  fc.record({ type: fc.constant('patch' as const), number, fields }),
  fc.record({ type: fc.constant('unpublish' as const), number, fields }),
  fc.record({ type: fc.constant('remove' as const), every: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ type: fc.constant('discard' as const), texts: fc.array(text, { maxLength: 50 }) }),
  fc.record({ type: fc.constant('compact' as const), looks: fc.nat({ max: 30 }) }),
  fc.record({ type: fc.constant('clear' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function put(
  { mirror, rows, load }: World,
  id: string,
  entry: DocumentEntry<Mirrored>,
  texts: readonly string[],
): void {
  const loaded = load(id, texts);
  mirror.put(entry, loaded);
  rows.set(id, { entry, attempt: loaded.attempt, texts });
}

export function take(world: World, each: Step): void {
  const { mirror, rows, load } = world;
  switch (each.type) {
    case 'put': {
      const id = idOf(each.number);
      const texts = Array.from({ length: each.copies }, () => each.texts).flat();
      put(world, id, entryOf(id, timeOf(each.number), each.fields), texts);
      return;
    }
    case 'fill':
      for (let n = 0; n < each.count; n += 1) {
        const id = idOf(n * 3);
        put(world, id, entryOf(id, timeOf(n * 3), each.fields), each.texts);
      }
      return;
    case 'patch': {
      const id = idOf(each.number);
      const before = rows.get(id);
      const entry = entryOf(id, timeOf(each.number), each.fields);
      mirror.put(entry, 'kept');
      rows.set(id, { entry, attempt: before?.attempt ?? null, texts: before?.texts ?? [] });
      return;
    }
    case 'unpublish': {
      const id = idOf(each.number);
      const entry = entryOf(id, timeOf(each.number), each.fields);
      mirror.put(entry, null);
      rows.set(id, { entry, attempt: null, texts: [] });
      return;
    }
    case 'remove':
      for (const [place, id] of [...rows.keys()].entries()) {
        if (place % each.every !== 0) continue;
        mirror.remove(id);
        rows.delete(id);
      }
      return;
    case 'discard':
      mirror.discard(load('x', each.texts));
      return;
    case 'compact': {
      let looks = 0;
      mirror.compact(() => (looks += 1) <= each.looks);
      return;
    }
    case 'clear':
      mirror.clear();
      rows.clear();
  }
}
