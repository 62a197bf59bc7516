import {
  DamagedModelError,
  readModelHeader as readHeader,
  type ModelHeader,
} from '../../shared/local-models/model-header.js';
import type { ModelFile } from '../../shared/local-models/model-files.js';
import { ModelError } from './model-error.js';

export type { ModelHeader } from '../../shared/local-models/model-header.js';

/** @throws ModelError `invalid_model` for a file that is no whole GGUF file */
export async function readModelHeader(file: ModelFile): Promise<ModelHeader> {
  return readHeader(file).catch((error: unknown) => {
    if (!(error instanceof DamagedModelError)) throw error;
    throw new ModelError('invalid_model', `the model file ${error.message}`, {
      field: 'model',
      cause: error,
    });
  });
}

/** The window that is used of a model, in tokens. Its memory is reserved for each conversation, so that it has a limit. */
export const windowOf = ({ window }: ModelHeader, most: number): number => Math.min(window, most);
