import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { advance, begin, mayRestart, type Page } from '../../../src/shared/search/progress.js';
import { planPasses } from '../../../src/shared/search/plan-passes.js';
import { noStatistics } from '../../../src/shared/search/query-terms.js';
import { RANKINGS } from '../../../src/shared/search/ranking.js';

const page: fc.Arbitrary<Page> = fc.oneof(
  fc.constant({ kind: 'overtaken' as const }),
  fc.record({ kind: fc.constant('full' as const), lowestScore: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant('open' as const), isCrowded: fc.boolean() }),
);

test('a search over so many chunks ends after so many steps as doubling takes, whatever pages come', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RANKINGS),
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.boolean(),
      fc.array(page, { minLength: 200, maxLength: 200 }),
      (ranking, chunks, givesAll, pages) => {
        const request = { query: 'crane wagon', k: 10, minScore: 0, hasCheapPostings: false };
        let progress = begin(planPasses(ranking, request, noStatistics));
        let steps = 0;
        for (const each of pages) {
          if (progress.step === 'done') break;
          const counts = progress.passes.map(({ limit }) => (givesAll ? chunks : Math.min(limit, chunks)));
          // The search asks whether it may begin again before it says that it was overtaken.
          const isAllowed = each.kind !== 'overtaken' || mayRestart(progress);
          progress = advance(progress, isAllowed ? each : { kind: 'open', isCrowded: true }, counts);
          steps += 1;
        }
        expect(progress.step).toBe('done');
        // Three passes, three restarts, and from 12 chunks doubled to a million.
        expect(steps).toBeLessThanOrEqual(3 + 3 + Math.ceil(Math.log2(1_000_000 / 12)) + 1);
      },
    ),
  );
});

test('a page without room is done once what was left out scores no more than its last hit', () => {
  const later = planPasses(
    'semantic',
    { query: '', k: 10, minScore: 0, hasCheapPostings: false },
    noStatistics,
  );
  const terms = { terms: new Uint32Array(1), weights: new Float64Array(1), averageLength: 1 };
  const passes = [0.1, 0].map((upperBound) => ({ kind: 'terms' as const, terms, limit: 100, upperBound }));
  const started = begin([...passes, ...later]);
  if (started.step === 'done') throw new Error('there is a pass to begin with');
  const stepAfter = (lowestScore: number) => advance(started, { kind: 'full', lowestScore }, [100]);
  expect(stepAfter(0.1)).toEqual({ step: 'done' });
  expect(stepAfter(0.0999)).toMatchObject({ step: 'find', passes });
});
