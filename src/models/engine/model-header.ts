import type { GgufFileInfo } from 'node-llama-cpp';
import { toError } from '../../shared/errors.js';
import type { ModelKind } from '../../shared/local-models/description.js';
import type { ModelFile } from '../../shared/local-models/model-files.js';
import { importEngine } from './llama.js';
import { ModelError } from './model-error.js';

/** What the first part of a model file says about it. The weights are not read. */
export interface ModelHeader {
  readonly info: GgufFileInfo;
  readonly name: string;
  readonly architecture: string;
  readonly kind: ModelKind;
  /** The length of the vectors inside the model, which those of embedding models have, too. */
  readonly dimensions: number;
  /** The tokens that the model was trained to read at once. */
  readonly window: number;
}

/** Values of `pooling_type`, by llama.cpp's `enum llama_pooling_type`. */
const POOLING_RANK = 4;
const POOLINGS_OF_VECTORS = [1, 2, 3];

/** @throws ModelError `invalid_model` for a file that is no whole GGUF file */
export async function readModelHeader(file: ModelFile): Promise<ModelHeader> {
  const { readGgufFileInfo } = await importEngine();
  const info = await readGgufFileInfo(file.path, {
    sourceType: 'filesystem',
    logWarnings: false,
    spliceSplitFiles: false,
  }).catch((error: unknown) => {
    throw invalid('is no GGUF file, or is damaged', error);
  });
  const { architectureMetadata: metadata, tensorInfo = [] } = info;
  const { general } = info.metadata;
  const beyond = tensorInfo.find(({ fileOffset }) => fileOffset >= file.status.size);
  if (tensorInfo.length === 0 || beyond) throw invalid('is not whole');
  const dimensions = Number(metadata.embedding_length);
  const window = Number(metadata.context_length);
  if (!isCount(dimensions) || !isCount(window)) throw invalid('does not say what it is');
  return {
    info,
    name: typeof general.name === 'string' && general.name !== '' ? general.name : file.name,
    architecture: general.architecture,
    kind: kindOf(metadata.pooling_type ?? 0),
    dimensions,
    window,
  };
}

const isCount = (value: number) => Number.isSafeInteger(value) && value > 0;

function kindOf(pooling: number): ModelKind {
  if (pooling === POOLING_RANK) return 'ranking';
  return POOLINGS_OF_VECTORS.includes(pooling) ? 'embedding' : 'chat';
}

function invalid(problem: string, cause?: unknown): ModelError {
  return new ModelError('invalid_model', `the model file ${problem}`, {
    field: 'model',
    ...(cause === undefined ? {} : { cause: toError(cause) }),
  });
}
