import type { GgufFileInfo } from 'node-llama-cpp';
import { z } from 'zod';
import { toError } from '../errors.js';
import type { ModelKind } from './description.js';
import { tensorBytes } from './ggml-types.js';
import { importEngine } from './import-engine.js';
import type { ModelFile } from './model-files.js';
import { walkHeader } from './walk-header.js';

/** The facts about a model in the first part of its file. The weights are not read. */
export interface ModelHeader {
  readonly info: GgufFileInfo;
  readonly name: string;
  readonly architecture: string;
  readonly kind: ModelKind;
  /** The length of the vectors inside the model. The vectors of embedding models have the same length. */
  readonly dimensions: number;
  /** The tokens that the model was trained to read at once. */
  readonly window: number;
}

/** A file that is no whole GGUF file with a model. The message is a predicate: "is not whole". */
export class DamagedModelError extends Error {
  override readonly name = 'DamagedModelError';
}

/** Values of `pooling_type`, by llama.cpp's `enum llama_pooling_type`. */
const POOLING_RANK = 4;
const POOLINGS_OF_VECTORS = [1, 2, 3];

/** `split.count` of the metadata. The fingerprint of the first part would say nothing about the others. */
const severalPartsSchema = z.object({ split: z.object({ count: z.number().min(2) }) });

/** @throws DamagedModelError, NoEngineError */
export async function readModelHeader(
  file: Pick<ModelFile, 'name' | 'path'> & { readonly status: { readonly size: number } },
): Promise<ModelHeader> {
  const info = await readInfo(file.path, file.status.size);
  const { architectureMetadata: metadata } = info;
  const { general } = info.metadata;
  if (severalPartsSchema.safeParse(info.metadata).success)
    throw new DamagedModelError('is one of several parts, which have to be merged into one file');
  checkWhole(info, file.status.size);
  const dimensions = Number(metadata.embedding_length);
  const window = Number(metadata.context_length);
  if (!isCount(dimensions) || !isCount(window)) throw new DamagedModelError('does not say what it is');
  return {
    info,
    name: typeof general.name === 'string' && general.name !== '' ? general.name : file.name,
    architecture: general.architecture,
    kind: kindOf(metadata.pooling_type ?? 0),
    dimensions,
    window,
  };
}

async function readInfo(path: string, size: number): Promise<GgufFileInfo> {
  try {
    walkHeader(path, size);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DamagedModelError('is no GGUF file, or is damaged', { cause: toError(error) });
  }
  const { readGgufFileInfo } = await importEngine();
  const options = { sourceType: 'filesystem', logWarnings: false, spliceSplitFiles: false } as const;
  return readGgufFileInfo(path, options).catch((error: unknown) => {
    throw new DamagedModelError('is no GGUF file, or is damaged', { cause: toError(error) });
  });
}

/** A file that was cut off still has a right beginning, so that the end of each tensor is compared with the size. */
function checkWhole({ tensorInfo = [] }: GgufFileInfo, size: number): void {
  const endsBeyond = tensorInfo.some(
    ({ fileOffset, ggmlType, dimensions }) =>
      Number(fileOffset) >= size || Number(fileOffset) + tensorBytes(ggmlType, dimensions) > size,
  );
  if (tensorInfo.length === 0 || endsBeyond) throw new DamagedModelError('is not whole');
}

const isCount = (value: number) => Number.isSafeInteger(value) && value > 0;

function kindOf(pooling: number): ModelKind {
  if (pooling === POOLING_RANK) return 'ranking';
  return POOLINGS_OF_VECTORS.includes(pooling) ? 'embedding' : 'chat';
}
