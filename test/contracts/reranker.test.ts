import { createHttpReranker } from '../../src/shared/adapters/http-reranker/http-reranker.js';
import { startFakeReranker } from '../support/fake-reranker.js';
import { describeReranker } from './reranker-contract.js';

describeReranker('http', async () => {
  const provider = await startFakeReranker({ apiKey: 'secret-key', tokens: 7 });
  const reranker = createHttpReranker({
    apiKey: 'secret-key',
    baseUrl: provider.url,
    model: 'fake-reranker',
    protocol: 'documents',
    scores: 'probability',
    maxDocuments: 100,
    maxTextTokens: 0,
  });
  return { reranker, stop: () => provider.stop() };
});

describeReranker('http, with texts and logits', async () => {
  const provider = await startFakeReranker({ protocol: 'texts', scoreOf: logit });
  const reranker = createHttpReranker({
    apiKey: null,
    baseUrl: provider.url,
    model: 'fake-reranker',
    protocol: 'texts',
    scores: 'logit',
    maxDocuments: 32,
    maxTextTokens: 64,
  });
  return { reranker, stop: () => provider.stop() };
});

/** The number from which a model makes a probability. */
function logit(document: string): number {
  return document.includes('lighthouse') ? 4.5 : -11 - document.length / 1_000;
}
