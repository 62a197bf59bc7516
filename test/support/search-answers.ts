import { expect } from '@jest/globals';
import type { Hit, SearchRequest } from '../../src/shared/search/request.js';
import type { ScoredText } from './search-world.js';
import { lastCandidate, searchByScan } from './section-scores.js';

/** Engines add up the same products in different orders. */
const SCORE_TOLERANCE = 1e-6;
/** Either of two chunks may be answered whose scores are this near to the last one. */
const CUT_TOLERANCE = 1e-5;

export interface Tolerance {
  readonly score: number;
  readonly cut: number;
}
export const EXACT_SCORES: Tolerance = { score: SCORE_TOLERANCE, cut: CUT_TOLERANCE };

/** The known facts of a chunk that an answer is compared with. */
type KnownText = Omit<ScoredText, 'own'>;

interface Expectation<Text> extends Pick<SearchRequest, 'k' | 'minScore' | 'per'> {
  readonly tolerance?: Tolerance;
  /** Tells whether an answer must have it, if it is good enough; otherwise it may. */
  readonly isCertain?: (text: Text) => boolean;
}

/**
 * Holds an answer against all that a search could answer with: right scores, in their order, ties by document and
 * number, and nothing left out that is better than what is there.
 */
export function expectAnswer<Text extends KnownText>(
  hits: readonly Hit[],
  all: readonly Text[],
  { k, minScore, per, tolerance = EXACT_SCORES, isCertain = () => true }: Expectation<Text>,
): void {
  const known = new Map(all.map((each) => [`${each.documentId}:${String(each.number)}`, each]));
  const best = per === 'chunk' ? known : bestOfEach(all);
  for (const { record, number, content, score } of hits) {
    const truth = known.get(`${record.id}:${String(number)}`);
    expect([record.id, number, truth?.text]).toEqual([record.id, number, content]);
    expect(Math.abs(score - (truth?.score ?? NaN))).toBeLessThanOrEqual(tolerance.score);
    expect(score).toBeGreaterThanOrEqual(minScore);
  }
  const named = hits.map(({ record, number }) =>
    per === 'chunk' ? `${record.id}:${String(number)}` : record.id,
  );
  expect(new Set(named).size).toBe(hits.length);
  expect(hits.map(placeOf)).toEqual(hits.map(placeOf).sort(byPlace));

  const last = hits.length < k ? minScore : (hits.at(-1)?.score ?? minScore);
  const missing = [...best].filter(([name, text]) => {
    const { score } = text;
    // At 0, the least there is, nothing is near a border.
    const isSure = last === 0 && hits.length < k ? score >= 0 : score > last + tolerance.cut;
    return isSure && isCertain(text) && !named.includes(name);
  });
  expect(missing).toEqual([]);
  expect(hits.length).toBeLessThanOrEqual(k);
}

/**
 * Holds an answer of the search by words against a scan of all by the definition: the very hits with their very scores. Which
 * of those that hold none of the words fill it up, an engine chooses.
 */
export function expectWords(
  hits: readonly Hit[],
  indexed: readonly ScoredText[],
  asked: Pick<SearchRequest, 'k' | 'minScore' | 'per'>,
  isHit: (text: ScoredText) => boolean = () => true,
): void {
  const expected = searchByScan(indexed, asked, isHit);
  const found = hits.map(({ record, number, content, score }) => [record.id, number, content, score]);
  const holding = expected.filter(({ score }) => score > 0);
  expect(found.filter(([, , , score]) => score !== 0)).toEqual(
    holding.map(({ documentId, number, text, score }) => [documentId, number, text, score]),
  );
  expect(found).toHaveLength(expected.length);
  const silent = new Set(indexed.filter((each) => each.own === 0 && isHit(each)).map(nameOf));
  const fillers = hits
    .slice(holding.length)
    .map(({ record: { id }, number }) => nameOf({ documentId: id, number }));
  expect(fillers.filter((name) => !silent.has(name))).toEqual([]);
  expect(new Set(fillers).size).toBe(fillers.length);
}

/**
 * The same for a first page of chunks, where those that score by themselves what the last candidate does may be candidates or
 * not: the others that score more must be, and those that score less must not.
 */
export function expectWordsButTies(
  hits: readonly Hit[],
  all: readonly ScoredText[],
  asked: Pick<SearchRequest, 'k' | 'minScore' | 'per'>,
): void {
  const last = lastCandidate(all, asked.k);
  const candidates = all.filter(({ own }) => own === 0 || own >= last);
  expectAnswer(hits, candidates, { ...asked, isCertain: ({ own }) => own === 0 || own > last });
}

const nameOf = ({ documentId, number }: Pick<ScoredText, 'documentId' | 'number'>): string =>
  `${documentId}:${String(number)}`;

/** Each document's best text, by its id. */
function bestOfEach<Text extends KnownText>(all: readonly Text[]): Map<string, Text> {
  const best = new Map<string, Text>();
  for (const each of all) {
    const known = best.get(each.documentId);
    if (!known || known.score < each.score) best.set(each.documentId, each);
  }
  return best;
}

const placeOf = ({ record, number, score }: Hit) => ({ id: record.id, number, score });
type Place = ReturnType<typeof placeOf>;

function byPlace(a: Place, b: Place): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.id === b.id ? a.number - b.number : a.id < b.id ? -1 : 1;
}
