import { completers, embedders, objectStorages, rerankers } from '../adapters/registry.js';
import type { Settings } from './schema.js';

/** The descriptors of the adapters that the settings name. */
export const embedderOf = ({ embedder }: Pick<Settings, 'embedder'>) => named(embedders, embedder);
export const completerOf = ({ completer }: Pick<Settings, 'completer'>) => named(completers, completer);
/** Null without one. */
export const rerankerOf = ({ reranker }: Pick<Settings, 'reranker'>) =>
  reranker === 'none' ? null : named(rerankers, reranker);
export const objectStorageOf = ({ objectStorage }: Pick<Settings, 'objectStorage'>) =>
  named(objectStorages, objectStorage);

function named<Adapter extends { readonly name: string }>(
  registry: readonly Adapter[],
  name: Adapter['name'],
): Adapter {
  const found = registry.find((adapter) => adapter.name === name);
  if (!found) throw new Error(`no adapter ${name}`);
  return found;
}

/**
 * Tells whether vectors come from another process, which may be slow or away, and to which a request costs more than its
 * texts.
 */
export const isEmbedderRemote = (settings: Pick<Settings, 'embedder'>): boolean =>
  embedderOf(settings).place.at !== 'this-process';

/** Tells whether a model makes the vectors. Others represent words alone: words rank better, and an index makes such vectors. */
export const usesEmbeddingModel = (settings: Pick<Settings, 'embedder'>): boolean =>
  embedderOf(settings).isOfTerms !== true;
