import type { FileSettings } from './schema.js';

/**
 * Tells whether vectors come from another process, which may be slow or away, and to which a request costs more than its
 * texts.
 */
export function isRemoteEmbedder(embedder: FileSettings['embedder']): boolean {
  switch (embedder) {
    case 'builtin':
      return false;
    case 'openai':
    case 'local':
    case 'langchain':
      return true;
  }
}
