import type { VectorAlgorithm } from './adapters/query-engine-index/query-engine-index.js';
import type { FindOptions } from './local-models/processes/find-model.js';
import { traceCompleter, traceEmbedder, traceReranker, type ModelProvider } from './models/traced-models.js';
import type { Completer, Embedder, Reranker } from './ports.js';
import { completerOf, embedderOf, rerankerOf } from './settings/chosen-adapters.js';
import type { Settings } from './settings/schema.js';

/** The adapters that the settings name, for the contexts of all processes. */
export async function createEmbedder(settings: Settings, options: FindOptions): Promise<Embedder> {
  const adapter = embedderOf(settings);
  return traceEmbedder(await adapter.create(settings, options), providerOf(adapter, settings));
}

export async function createCompleter(settings: Settings, options: FindOptions): Promise<Completer> {
  const adapter = completerOf(settings);
  return traceCompleter(await adapter.create(settings, options), providerOf(adapter, settings));
}

/** Null without one. */
export async function createReranker(settings: Settings, options: FindOptions): Promise<Reranker | null> {
  const adapter = rerankerOf(settings);
  return adapter && traceReranker(await adapter.create(settings, options), providerOf(adapter, settings));
}

type Adapter = NonNullable<ReturnType<typeof embedderOf | typeof completerOf | typeof rerankerOf>>;

const providerOf = ({ name, place, inUse }: Adapter, settings: Settings): ModelProvider => ({
  name,
  baseUrl: place.at === 'provider' ? inUse(settings).address : null,
});

/** Returns the algorithm by which the Query Engine is to index vectors, by the settings. */
export function algorithmOf({
  algorithm,
  hnswM,
  hnswEfConstruction,
}: Settings['queryEngine']): VectorAlgorithm {
  switch (algorithm) {
    case 'flat':
      return { name: 'flat' };
    case 'hnsw':
      return { name: 'hnsw', m: hnswM, efConstruction: hnswEfConstruction };
  }
}
