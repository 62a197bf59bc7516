import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Mirror } from '../../src/shared/adapters/exact-index/mirror/mirror.js';
import { countDocuments, listDocuments } from '../../src/shared/adapters/exact-index/answer-question.js';
import { unpackCandidates, type PackedCandidates } from '../../src/index/search/packed-candidates.js';
import type { Mask } from '../../src/index/masks/working-mask.js';
import { innerProduct } from '../../src/shared/data-set/stored-vectors.js';
import { NEWEST_FIRST } from '../../src/shared/documents/list-order.js';
import type { Filter } from '../../src/shared/filters/parse.js';
import { toWordQuery, weighQuery } from '../../src/shared/search/ranking.js';
import { analyzeQuery, analyzeText, listTerms } from '../../src/shared/text/list-terms.js';
import { documentVector, queryVector } from '../../src/shared/text/term-vectors.js';
import {
  openMirror,
  packedOf,
  step,
  take,
  USERS,
  WORDS,
  type Row,
  type World,
} from './support/index-worlds.js';
import { compareAddresses, indexByScan, scoresOfDocument } from '../support/section-scores.js';

const FILTERS: readonly (Filter | null)[] = [
  null,
  { type: 'equals', path: 'colour', values: ['red'] },
  { type: 'not', filter: { type: 'equals', path: 'colour', values: ['red'] } },
];

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function statisticsOf(rows: World['rows'], callerId: string, query: string) {
  const own = [...rows.values()].filter(({ entry }) => entry.statisticsOwner === callerId);
  const all = own.flatMap(({ texts }) => texts.map((each) => analyzeText(each)));
  const terms = [...analyzeQuery(query).counts.keys()];
  return {
    chunks: all.length,
    totalLength: all.reduce((sum, { length }) => sum + length, 0),
    frequencies: new Map(terms.map((term) => [term, all.filter(({ counts }) => counts.has(term)).length])),
  };
}

const mayRead = ({ entry: { access } }: Row, { principal }: Asked): boolean =>
  access.readers.includes(principal.id);

function fits({ entry: { fields } }: Row, filter: Filter | null): boolean {
  const isRed = fields.metadata['colour'] === 'red';
  return filter === null || isRed === (filter.type === 'equals');
}

interface Asked {
  readonly principal: { readonly id: string };
  readonly filter: Filter | null;
  readonly query: string;
}

/** Every chunk that may be found, with its score. */
function scored(rows: World['rows'], asked: Asked) {
  const { principal, filter, query } = asked;
  const weights = weighQuery(query, statisticsOf(rows, principal.id, query));
  return [...rows]
    .filter(([, row]) => mayRead(row, asked) && fits(row, filter))
    .flatMap(([documentId, { attempt, texts }]) => {
      const packed = texts.map(packedOf);
      return scoresOfDocument(packed, weights).map((scores, number) => {
        return { documentId, generation: documentId + (attempt ?? ''), number, ...scores };
      });
    })
    .sort((a, b) => b.score - a.score || compareAddresses(a, b));
}

interface WordsAsked extends Asked {
  limit: number;
  enough: number;
  minScore: number;
}

/**
 * Returns the answer to a search: the best by themselves, in the order of the score with their sections, and then the
 * chunks that score 0.
 */
function answerOf(rows: World['rows'], asked: WordsAsked) {
  return indexByScan(scored(rows, asked), asked).map(({ documentId, generation, number, score }) => ({
    documentId,
    generation,
    number,
    score,
  }));
}

async function maskOf(mirror: Mirror, { principal, filter }: Asked): Promise<Mask> {
  const read = await mirror.prepare({ principal, filter }, () => true);
  if (!read) throw new Error('nobody waits');
  return read();
}

const unpacked = (found: PackedCandidates) => unpackCandidates(found);

async function expectWords({ mirror, rows }: World, asked: WordsAsked) {
  const { principal, filter } = asked;
  const query = toWordQuery(asked.query);
  const needsNoMask = filter === null && mirror.readsWholePartitions(principal);
  const mask = await maskOf(mirror, asked);
  const expected = answerOf(rows, asked);
  expect(unpacked(mirror.searchWords({ ...asked, query, mask }))).toEqual(expected);
  if (needsNoMask) expect(unpacked(mirror.searchWords({ ...asked, query, mask: null }))).toEqual(expected);
  const all = scored(rows, asked);
  const gone = { documentId: 'gone', generation: 'gone.1', number: 0 };
  expect([...mirror.wordScores({ principal, query }, [...all, gone])]).toEqual([
    ...all.map(({ score }) => score),
    Number.NaN,
  ]);
}

async function expectNearest({ mirror, rows }: World, asked: Asked & { limit: number }) {
  const vector = queryVector(analyzeQuery(asked.query));
  const all = scored(rows, asked).map((each) => {
    const of = rows.get(each.documentId)?.texts[each.number] ?? '';
    return { ...each, score: innerProduct(vector, documentVector(listTerms(of))) };
  });
  const similarities = mirror.similarities(vector, all);
  for (const [i, { score }] of all.entries()) expect(similarities[i]).toBeCloseTo(score, 5);
  const found = unpacked(mirror.searchVectors({ ...asked, vector, mask: await maskOf(mirror, asked) }));
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
    .filter((row) => mayRead(row, asked) && fits(row, asked.filter))
    .map(({ entry }) => entry.fields)
    .sort((a, b) => compareTexts(b.createdAt, a.createdAt) || compareTexts(a.id, b.id))
    .map(({ id }) => id);
  const mask = await maskOf(mirror, asked);
  expect(countDocuments(mirror, { mask, name: null })).toBe(listed.length);
  const request = { ...asked, mask, name: null, order: NEWEST_FIRST, after: null };
  expect(listDocuments(mirror, request).ids).toEqual(listed.slice(asked.skip, asked.skip + asked.limit));
}

const question = fc.record({
  principal: fc.constantFrom(...USERS, 'nobody').map((id) => ({ id })),
  filter: fc.constantFrom(...FILTERS),
  query: fc.array(fc.constantFrom(...WORDS, 'unknown'), { maxLength: 5 }).map((words) => words.join(' ')),
  limit: fc.constantFrom(0, 1, 5, 60, 5_000),
  enough: fc.constantFrom(0, 1, 3, 5_000),
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
          const world = openMirror();
          const ask = async (asked: typeof last) => {
            await expectWords(world, { ...asked, enough: Math.min(asked.enough, asked.limit) });
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
