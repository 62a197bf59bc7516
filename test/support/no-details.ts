import type { HitDetails } from '../../src/api/services/retrieval/find-hits.js';

/** Hits without anything that is told of them. */
export const noDetails: HitDetails = {
  widen: (hits) => Promise.resolve({ hits, isOvertaken: false }),
  highlight: (texts) => Promise.resolve(texts.map(() => [])),
  recheck: (hits) => Promise.resolve({ areHits: hits.map(() => true), isOvertaken: false }),
  explain: (hits) => Promise.resolve(hits.map(() => null)),
};
