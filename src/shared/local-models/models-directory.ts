import { join } from 'node:path';
import type { Settings } from '../settings/schema.js';

/** The folder of model files: the one of the settings, or `models` in the data folder. */
export function modelsDirectoryOf({
  models,
  dataDirectory,
}: Pick<Settings, 'models' | 'dataDirectory'>): string {
  return models.dir === '' ? join(dataDirectory, 'models') : models.dir;
}
