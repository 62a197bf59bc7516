import { expect } from '@jest/globals';
import type { Hit } from '../../src/shared/search/hit.js';
import type { SearchRequest } from '../../src/shared/search/request.js';
import type { ScoredText } from './search-world.js';

/** Engines add up the same products in different orders. */
const SCORE_TOLERANCE = 1e-6;
/** Of scores this near to the last that is answered, either may be. */
const CUT_TOLERANCE = 1e-5;

export interface Tolerance {
  readonly score: number;
  readonly cut: number;
}
export const EXACT_SCORES: Tolerance = { score: SCORE_TOLERANCE, cut: CUT_TOLERANCE };

/** What is known of a chunk that an answer is held against. */
type KnownText = Omit<ScoredText, 'own'>;

interface Expectation<Text> extends Pick<SearchRequest, 'k' | 'minScore' | 'per'> {
  readonly tolerance?: Tolerance;
  /** Whether an answer must have it, if it is good enough; otherwise it may. */
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
