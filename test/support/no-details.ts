import type { HitDetails } from '../../src/api/services/retrieval/find-hits.js';

/** Hits without anything that is told of them. */
export const noDetails: HitDetails = {
  widen: (hits) => Promise.resolve({ hits, isOvertaken: false }),
  highlight: (texts) => Promise.resolve(texts.map(() => [])),
  explain: (hits) => Promise.resolve(hits.map(() => null)),
};
