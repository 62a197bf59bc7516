import { cohereUrl } from '../../settings/sections/search.js';
import { fetchFor } from '../../tracing/tracing.js';
import type { RerankerDescriptor } from '../descriptor.js';

const modelOf = ({ model }: { readonly model: string }) => (model === '' ? 'rerank-v3.5' : model);

export const httpReranker: RerankerDescriptor<'http'> = {
  name: 'http',
  place: {
    at: 'provider',
    setBy: { key: 'RERANKER_API_KEY', model: 'reranking.model', address: 'reranking.base_url' },
  },
  rules: [
    {
      names: ['reranking.base_url'],
      broken: ({ reranking, rerankerApiKey }) => reranking.baseUrl === cohereUrl && rerankerApiKey === null,
      problem: () => ({
        setting: 'reranker',
        value: '"http"',
        allowed: 'needs RERANKER_API_KEY, or reranking.base_url of a provider that asks for no key',
      }),
    },
  ],
  inUse: ({ reranking }) => ({ model: modelOf(reranking), address: reranking.baseUrl }),
  create: async ({ reranking, rerankerApiKey, traces }) => {
    const { createHttpReranker } = await import('./http-reranker.js');
    return createHttpReranker({
      ...reranking,
      model: modelOf(reranking),
      apiKey: rerankerApiKey,
      fetch: fetchFor(traces),
    });
  },
};
