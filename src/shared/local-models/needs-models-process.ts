import type { Settings } from '../settings/schema.js';

/** Whether a setting names a model that the process with local models of this host is to hold. */
export function needsModelsProcess({ embedder, completer, models }: Settings): boolean {
  return models.url === '' && (embedder === 'local' || completer === 'local');
}
