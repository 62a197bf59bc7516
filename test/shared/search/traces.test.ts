import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { NOWHERE } from '../../../src/shared/chunks/fields.js';
import type { Reranked } from '../../../src/shared/models/reranking.js';
import type { ReadHits } from '../../../src/shared/search/read-hits.js';
import { createRerankedSearch } from '../../../src/shared/search/reranked-search.js';
import { createSearch } from '../../../src/shared/search/search.js';
import { createTracer } from '../../../src/shared/tracing/open-telemetry.js';
import { beginTrace, tracedBy, useTracer } from '../../../src/shared/tracing/tracing.js';
import { matchable } from '../../support/matchable.js';
import { RANKERS } from '../../support/search-worlds.js';

const exporter = new InMemorySpanExporter();
beforeEach(() => {
  const provider = new TracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  useTracer(createTracer(provider.getTracer('test')));
});
afterEach(() => {
  useTracer(null);
  exporter.reset();
});

const readHits: ReadHits = (chunks, ids, keep) =>
  Promise.resolve({
    contents: chunks.map(() => ({ text: 'secret content', ...NOWHERE })),
    records: ids.map((id) => keep(matchable({}, { id }))),
  });

/** Finds two chunks, has them reranked so, and returns the steps of that with their attributes. */
async function stepsOf(reranked: Reranked) {
  const candidates = [0, 1].map((number) => ({ documentId: 'd', generation: 'g', number, score: 0.5 }));
  const unused = () => Promise.reject(new Error('not asked for'));
  const search = createSearch({
    index: {
      vectors: { search: unused, similarities: unused },
      words: { search: () => Promise.resolve(candidates), scores: unused },
    },
    embedding: { embedQuery: unused },
    chooseRanker: () => RANKERS.lexical,
    readHits,
  });
  const reranking = {
    candidates: 5,
    deadlineMilliseconds: 1_000,
    mayBegin: () => true,
    rerank: () => Promise.resolve(reranked),
  };
  const { hits } = await tracedBy(beginTrace('request', { from: null }), () =>
    createRerankedSearch({ search, reranking, readHits }).search({
      principal: { id: 'alice' },
      query: 'secret query',
      filter: null,
      k: 5,
      minScore: 0,
      per: 'chunk',
      rerank: { topN: null },
    }),
  );
  expect(hits).toHaveLength(2);
  const spans = exporter.getFinishedSpans().filter(({ name }) => name !== 'request');
  return spans.map(({ name, attributes }) => ({ name, attributes }));
}

test('each step of a search is a span with its sizes and its outcome, and tells nothing of texts and queries', async () => {
  const steps = await stepsOf({ type: 'applied', scores: [0.1, 0.9], tokens: 3 });
  expect(steps).toEqual([
    { name: 'search index', attributes: { 'quire.search.ranking': 'lexical', 'quire.search.width': 1 } },
    { name: 'read hits', attributes: { 'quire.search.candidates': 2 } },
    { name: 'rerank', attributes: { 'quire.texts': 2, 'quire.rerank.outcome': 'applied' } },
  ]);
});

test('a reranking that did not come about says why', async () => {
  const steps = await stepsOf({ type: 'skipped', reason: 'busy' });
  expect(steps.at(-1)).toEqual({
    name: 'rerank',
    attributes: { 'quire.texts': 2, 'quire.rerank.outcome': 'busy' },
  });
});
