import { readdirSync } from 'node:fs';
import type { Settings } from '../settings/schema.js';
import { systemErrorCode } from '../system-error-code.js';
import { isModelName } from './model-files.js';
import { modelsDirectoryOf } from './models-directory.js';
import { namedModels } from './named-models.js';

/** Tells whether there is a process with local models, here or elsewhere. */
export const usesLocalModels = (settings: Settings): boolean =>
  settings.models.urls.length > 0 || needsModelsProcess(settings);

/**
 * Tells whether the process with local models must run on this host: a setting names a model, or there is a file that a
 * named cache may name.
 */
export function needsModelsProcess(settings: Settings): boolean {
  const { caches, models } = settings;
  if (models.urls.length > 0) return false;
  if (namedModels(settings).length > 0 || caches.engine === 'llama') return true;
  return caches.engine === 'auto' && hasModelFiles(modelsDirectoryOf(settings));
}

function hasModelFiles(directory: string): boolean {
  try {
    return readdirSync(directory).some(isModelName);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
