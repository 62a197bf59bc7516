import { expect } from '@jest/globals';
import type { Index } from '../../src/shared/ports.js';
import {
  createHybridRanker,
  createLexicalRanker,
  createSemanticRanker,
} from '../../src/shared/search/ranking.js';
import { parsed } from '../contracts/index-data.js';
import { isNamed } from './access-oracle.js';
import { oracle } from './filter-oracle.js';
import { EXACT_SCORES, expectAnswer, expectWords, type Tolerance } from './search-answers.js';
import type { RandomQuestion } from './search-arbitraries.js';
import type { SearchWorld, WorldDocument } from './search-world.js';

export type Question = Omit<RandomQuestion, 'filter'> & { readonly filter: Record<string, unknown> | null };

/** The scores that order the hits are computed from the same terms, whatever the vectors were rounded to. */
const rankers = [
  { ranker: createLexicalRanker(), isOfVectors: false },
  { ranker: createSemanticRanker(), isOfVectors: true },
  { ranker: createHybridRanker(0.6), isOfVectors: true },
];

/**
 * Asks every engine in every way and holds its answers against a scan of the world.
 *
 * @returns how many documents match
 */
export async function compareEngines(
  world: SearchWorld,
  engines: readonly Index[],
  { tolerance = EXACT_SCORES, ...asked }: Question & { readonly tolerance?: Tolerance },
): Promise<number> {
  const { callerId, filter: json, skip, k } = asked;
  const principal = { id: callerId };
  const filter = json && parsed(json);
  const isWanted = ({ record }: WorldDocument) =>
    isNamed(callerId, record) && (json === null || oracle(record, json));
  const records = [...world.documents.values()].filter(isWanted).map(({ record }) => record);
  const ids = records.sort(newestFirst).map(({ id }) => id);
  try {
    for (const engine of engines) {
      expect(await engine.count({ principal, filter })).toBe(ids.length);
      const { ids: listed } = await engine.list({ principal, filter, skip, limit: k });
      expect(listed).toEqual(ids.slice(skip, skip + k));
    }
    for (const { ranker, isOfVectors } of rankers) {
      for (const engine of engines) {
        const counts = engine.name === 'exact' ? 'served' : 'stored';
        const all = await world.scores(asked.query, { ranker, callerId, isWanted, counts });
        const hits = await world.createSearch(engine, ranker)({ ...asked, principal, filter });
        if (ranker.ranking === 'lexical') expectWords(hits, all, asked);
        else expectAnswer(hits, all, { ...asked, tolerance: isOfVectors ? tolerance : EXACT_SCORES });
      }
    }
  } catch (cause) {
    throw new Error(`asked ${JSON.stringify(asked)}: ${String(cause)}`, { cause });
  }
  return ids.length;
}

interface Dated {
  readonly id: string;
  readonly createdAt: string;
}

function newestFirst(a: Dated, b: Dated): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}
