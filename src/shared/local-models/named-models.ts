import type { Settings } from '../settings/schema.js';
import { recommendedEmbedding } from './recommended.js';

export interface NamedModel {
  readonly name: string;
  /** The setting that makes use of it. */
  readonly usedBy: 'embedder' | 'completer' | 'reranker';
}

/** The file that `embedder = "local"` means. */
export function embeddingFileOf({ embedding, models }: Pick<Settings, 'embedding' | 'models'>): string {
  return embedding.model === '' ? recommendedEmbedding[models.language].file : embedding.model;
}

/** The model files that the settings make use of. */
export function namedModels(settings: Settings): NamedModel[] {
  const { embedder, completer, completion, reranker, reranking } = settings;
  return [
    ...(embedder === 'local' ? [{ name: embeddingFileOf(settings), usedBy: 'embedder' as const }] : []),
    ...(completer === 'local' ? [{ name: completion.model, usedBy: 'completer' as const }] : []),
    ...(reranker === 'local' ? [{ name: reranking.model, usedBy: 'reranker' as const }] : []),
  ];
}
