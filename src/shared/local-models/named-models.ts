import { readdirSync } from 'node:fs';
import { placeOf, modelsInUse, ROLES, type Role } from '../models/in-use/models-in-use.js';
import type { Settings } from '../settings/schema.js';
import { systemErrorCode } from '../system-error-code.js';
import { isModelName, modelsDirectoryOf } from './model-files.js';

export interface NamedModel {
  readonly name: string;
  /** The setting that makes use of it. */
  readonly usedBy: Role;
}

/** The model files that the settings make use of. */
export function namedModels(settings: Settings): NamedModel[] {
  const used = modelsInUse(settings);
  return ROLES.flatMap((usedBy) => {
    const { model } = used[usedBy];
    return placeOf(used[usedBy])?.at === 'models-process' && model !== null ? [{ name: model, usedBy }] : [];
  });
}

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
