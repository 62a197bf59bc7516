import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMirror, type Mirror } from '../../../../../src/shared/adapters/exact-index/mirror/mirror.js';
import type { LoadedChunks } from '../../../../../src/shared/adapters/exact-index/mirror/mirrored.js';
import type { ParsedRecord } from '../../../../../src/shared/adapters/exact-index/mirror/record-parser.js';
import { tieKey } from '../../../../../src/shared/adapters/exact-index/mirror/tie-key.js';
import {
  unpackCandidates,
  type PackedCandidates,
} from '../../../../../src/shared/adapters/exact-index/packed-candidates.js';
import { loadKernel } from '../../../../../src/shared/adapters/exact-index/scan/kernel.js';
import type { Mask } from '../../../../../src/shared/adapters/exact-index/scan/working-mask.js';
import { innerProduct } from '../../../../../src/shared/data-set/stored-vectors.js';
import type { Filter } from '../../../../../src/shared/filters/parse.js';
import { coveredShare } from '../../../../../src/shared/search/bm25.js';
import { weighQuery } from '../../../../../src/shared/search/query-terms.js';
import { analyzeText } from '../../../../../src/shared/text/analyze-text.js';
import { packTerms } from '../../../../../src/shared/text/packed-terms.js';
import { documentVector, queryVector } from '../../../../../src/shared/text/term-vectors.js';
import { makeDocument } from '../../../../support/documents.js';

const makeKernel = await loadKernel();

const USERS = ['anna', 'ben', 'cleo', 'dora'] as const;
const COLOURS = ['red', 'blue'] as const;
const WORDS = ['harbour', 'lantern', 'meadow', 'the', 'granite', 'violin', 'orchard'] as const;
const FILTERS: readonly (Filter | null)[] = [
  null,
  { type: 'equals', path: 'colour', values: ['red'] },
  { type: 'not', filter: { type: 'equals', path: 'colour', values: ['red'] } },
];

/** What the mirror is told of a document. */
interface Row {
  readonly record: ParsedRecord;
  readonly attempt: string | null;
  readonly texts: readonly string[];
}

interface Fields {
  readonly owner: string;
  readonly readers: readonly string[];
  readonly colour: string;
}

function recordOf(id: string, createdAt: string, { owner, readers, colour }: Fields): ParsedRecord {
  const document = makeDocument({ id, createdAt, readers, writers: [], admins: [], metadata: { colour } });
  const statisticsOwner = readers.includes(owner) ? owner : null;
  return { document, accessKey: readers.join(), statisticsOwner, published: null, prepared: null };
}

const packedOf = (text: string): Uint8Array =>
  text === '' ? new Uint8Array(0) : packTerms(analyzeText(text));

function open() {
  const mirror = createMirror({ makeKernel, held: 'of-terms', onUntidy: () => undefined });
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

type World = ReturnType<typeof open>;

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
const step = fc.oneof(
  fc.record({
    type: fc.constant('put' as const),
    number,
    fields,
    texts: fc.array(text, { maxLength: 6 }),
    copies: fc.constantFrom(1, 1, 1, 40, 300),
  }),
  // As many documents of one access list, of which most are never named again.
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
  fc.record({ type: fc.constant('tidy' as const), looks: fc.nat({ max: 30 }) }),
  fc.record({ type: fc.constant('clear' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function put(
  { mirror, rows, load }: World,
  id: string,
  record: ParsedRecord,
  texts: readonly string[],
): void {
  const loaded = load(id, texts);
  mirror.put(record, loaded);
  rows.set(id, { record, attempt: loaded.attempt, texts });
}

function take(world: World, each: Step): void {
  const { mirror, rows, load } = world;
  switch (each.type) {
    case 'put': {
      const id = idOf(each.number);
      const texts = Array.from({ length: each.copies }, () => each.texts).flat();
      put(world, id, recordOf(id, timeOf(each.number), each.fields), texts);
      return;
    }
    case 'fill':
      for (let n = 0; n < each.count; n += 1) {
        const id = idOf(n * 3);
        put(world, id, recordOf(id, timeOf(n * 3), each.fields), each.texts);
      }
      return;
    case 'patch': {
      const id = idOf(each.number);
      const before = rows.get(id);
      const record = recordOf(id, timeOf(each.number), each.fields);
      mirror.put(record, 'kept');
      rows.set(id, { record, attempt: before?.attempt ?? null, texts: before?.texts ?? [] });
      return;
    }
    case 'unpublish': {
      const id = idOf(each.number);
      const record = recordOf(id, timeOf(each.number), each.fields);
      mirror.put(record, null);
      rows.set(id, { record, attempt: null, texts: [] });
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
    case 'tidy': {
      let looks = 0;
      mirror.tidy(() => (looks += 1) <= each.looks);
      return;
    }
    case 'clear':
      mirror.clear();
      rows.clear();
  }
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function statisticsOf(rows: World['rows'], callerId: string, query: string) {
  const own = [...rows.values()].filter(({ record }) => record.statisticsOwner === callerId);
  const all = own.flatMap(({ texts }) => texts.map((each) => analyzeText(each)));
  const terms = [...analyzeText(query).counts.keys()];
  return {
    chunks: all.length,
    totalLength: all.reduce((sum, { length }) => sum + length, 0),
    frequencies: new Map(terms.map((term) => [term, all.filter(({ counts }) => counts.has(term)).length])),
  };
}

const mayRead = ({ record: { document } }: Row, callerId: string): boolean =>
  document.readers.includes(callerId);

function fits({ record: { document } }: Row, filter: Filter | null): boolean {
  const isRed = document.metadata['colour'] === 'red';
  return filter === null || isRed === (filter.type === 'equals');
}

interface Asked {
  readonly callerId: string;
  readonly filter: Filter | null;
  readonly query: string;
}

/** Every chunk that may be found, with its score. */
function scored(rows: World['rows'], { callerId, filter, query }: Asked) {
  const weights = weighQuery(query, statisticsOf(rows, callerId, query));
  const counts = new Uint8Array(weights.terms.length);
  return [...rows]
    .filter(([, row]) => mayRead(row, callerId) && fits(row, filter))
    .flatMap(([documentId, { attempt, texts }]) =>
      texts.map((each, number) => {
        const score = each === '' ? 0 : coveredShare(packedOf(each), weights, counts);
        return { documentId, generation: documentId + (attempt ?? ''), number, score };
      }),
    )
    .sort((a, b) => b.score - a.score || compareTexts(a.documentId, b.documentId) || a.number - b.number);
}

async function maskOf(mirror: Mirror, { callerId, filter }: Asked): Promise<Mask> {
  const read = await mirror.prepare({ callerId, filter }, () => true);
  if (!read) throw new Error('nobody waits');
  return read();
}

const unpacked = (found: PackedCandidates) => unpackCandidates(found);

async function expectWords({ mirror, rows }: World, asked: Asked & { limit: number; minScore: number }) {
  const { callerId, filter, limit, minScore } = asked;
  const needsNoMask = filter === null && mirror.readsWholePartitions(callerId);
  const mask = await maskOf(mirror, asked);
  const expected = scored(rows, asked)
    .filter(({ score }) => score >= minScore)
    .slice(0, limit);
  expect(unpacked(mirror.searchWords({ ...asked, mask }))).toEqual(expected);
  if (needsNoMask) expect(unpacked(mirror.searchWords({ ...asked, mask: null }))).toEqual(expected);
  const all = scored(rows, asked);
  const gone = { documentId: 'gone', generation: 'gone.1', number: 0 };
  expect([...mirror.wordScores(asked, [...all, gone])]).toEqual([
    ...all.map(({ score }) => score),
    Number.NaN,
  ]);
}

async function expectNearest({ mirror, rows }: World, asked: Asked & { limit: number }) {
  const vector = queryVector(analyzeText(asked.query));
  const all = scored(rows, asked).map((each) => {
    const of = rows.get(each.documentId)?.texts[each.number] ?? '';
    return { ...each, score: innerProduct(vector, documentVector(analyzeText(of))) };
  });
  const similarities = mirror.similarities(vector, all);
  for (const [i, { score }] of all.entries()) expect(similarities[i]).toBeCloseTo(score, 5);
  const found = unpacked(mirror.search({ ...asked, vector, mask: await maskOf(mirror, asked) }));
  const best = all.map(({ score }) => score).sort((a, b) => b - a);
  expect(found.length).toBe(Math.min(asked.limit, all.length));
  const byAddress = new Map(all.map((each) => [`${each.generation}:${String(each.number)}`, each.score]));
  for (const [i, { generation, number, score }] of found.entries()) {
    expect(score).toBeCloseTo(best[i] ?? Number.NaN, 5);
    expect(score).toBeCloseTo(byAddress.get(`${generation}:${String(number)}`) ?? Number.NaN, 5);
  }
  expect(new Set(found.map(({ generation, number }) => `${generation}:${String(number)}`)).size).toBe(
    found.length,
  );
}

async function expectList({ mirror, rows }: World, asked: Asked & { limit: number; skip: number }) {
  const listed = [...rows.values()]
    .filter((row) => mayRead(row, asked.callerId) && fits(row, asked.filter))
    .map(({ record }) => record.document)
    .sort((a, b) => compareTexts(b.createdAt, a.createdAt) || compareTexts(a.id, b.id))
    .map(({ id }) => id);
  const mask = await maskOf(mirror, asked);
  expect(mirror.count({ mask })).toBe(listed.length);
  expect(mirror.list({ ...asked, mask })).toEqual(listed.slice(asked.skip, asked.skip + asked.limit));
}

const question = fc.record({
  callerId: fc.constantFrom(...USERS, 'nobody'),
  filter: fc.constantFrom(...FILTERS),
  query: fc.array(fc.constantFrom(...WORDS, 'unknown'), { maxLength: 5 }).map((words) => words.join(' ')),
  limit: fc.constantFrom(0, 1, 5, 60, 5_000),
  minScore: fc.constantFrom(0, Number.MIN_VALUE, 0.2, 0.7),
  skip: fc.constantFrom(0, 3),
});

describe('a mirror', () => {
  test('answers as a plain computation over what it was told does, whatever it was told in which order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.option(question, { freq: 2 })), { minLength: 1, maxLength: 40 }),
        question,
        async (steps, last) => {
          const world = open();
          const ask = async (asked: typeof last) => {
            await expectWords(world, asked);
            await expectNearest(world, asked);
            await expectList(world, asked);
          };
          for (const [each, asked] of steps) {
            take(world, each);
            if (asked) await ask(asked);
          }
          await ask(last);
          const chunks = [...world.rows.values()].reduce((sum, { texts }) => sum + texts.length, 0);
          expect(world.mirror.chunkCount).toBe(chunks);
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);
});
