import { closeSync, openSync, readSync } from 'node:fs';
import type { GgufFileInfo } from 'node-llama-cpp';
import { z } from 'zod';
import { toError } from '../errors.js';
import type { ModelKind } from './description.js';
import { importEngine } from './import-engine.js';
import type { ModelFile } from './model-files.js';

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
    kind: kindOf(metadata.pooling_type),
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

/** A model that tells no pooling is for chats. */
function kindOf(pooling: number | undefined): ModelKind {
  if (pooling === POOLING_RANK) return 'ranking';
  return pooling !== undefined && POOLINGS_OF_VECTORS.includes(pooling) ? 'embedding' : 'chat';
}

/** Values that a block of this type holds, and the bytes that it takes, by the numbers of ggml's `enum ggml_type`. */
const BLOCKS: ReadonlyMap<number, readonly [values: number, bytes: number]> = new Map([
  [0, [1, 4]], // F32
  [1, [1, 2]], // F16
  [2, [32, 18]], // Q4_0
  [3, [32, 20]], // Q4_1
  [6, [32, 22]], // Q5_0
  [7, [32, 24]], // Q5_1
  [8, [32, 34]], // Q8_0
  [9, [32, 36]], // Q8_1
  [10, [256, 84]], // Q2_K
  [11, [256, 110]], // Q3_K
  [12, [256, 144]], // Q4_K
  [13, [256, 176]], // Q5_K
  [14, [256, 210]], // Q6_K
  [15, [256, 292]], // Q8_K
  [16, [256, 66]], // IQ2_XXS
  [17, [256, 74]], // IQ2_XS
  [18, [256, 98]], // IQ3_XXS
  [19, [256, 50]], // IQ1_S
  [20, [32, 18]], // IQ4_NL
  [21, [256, 110]], // IQ3_S
  [22, [256, 82]], // IQ2_S
  [23, [256, 136]], // IQ4_XS
  [24, [1, 1]], // I8
  [25, [1, 2]], // I16
  [26, [1, 4]], // I32
  [27, [1, 8]], // I64
  [28, [1, 8]], // F64
  [29, [256, 56]], // IQ1_M
  [30, [1, 2]], // BF16
  [34, [256, 54]], // TQ1_0
  [35, [256, 66]], // TQ2_0
  [39, [32, 17]], // MXFP4
]);

/** The bytes that a tensor takes in a file; 0 for types that are not known here. */
function tensorBytes(type: number, dimensions: readonly (number | bigint)[]): number {
  const [values, bytes] = BLOCKS.get(type) ?? [1, 0];
  const count = dimensions.reduce<number>((product, size) => product * Number(size), 1);
  return Math.ceil(count / values) * bytes;
}

/** Real headers have some megabytes, most of it the vocabulary. */
const MAX_HEADER_BYTES = 256 * 1024 ** 2;
/** Items of all arrays together. Those of real headers are some for each token of the vocabulary. */
const MAX_ITEMS = 8 * 1024 ** 2;
/** Entries, and tensors. Real models have some thousands. */
const MAX_ENTRIES = 200_000;
const MAX_NESTING = 4;
const MAX_DIMENSIONS = 8;
const BUFFER_BYTES = 1024 ** 2;
/** Bytes of values by the numbers of their types in the format; strings (8) and arrays (9) say their length themselves. */
const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, null, null, 8, 8, 8];
const STRING = 8;
const ARRAY = 9;

/**
 * Walks over the header of a file by the lengths and counts that it states itself, and throws where they lead beyond its
 * end, or beyond all reason. The reader of the engine's package believes counts: it would go on for hours, or end the
 * process with an array of the data that the file does have. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
function walkHeader(path: string, size: number): void {
  const file = openSync(path, 'r');
  try {
    walk(createCursor(file, Math.min(size, MAX_HEADER_BYTES)));
  } finally {
    closeSync(file);
  }
}

type Cursor = ReturnType<typeof createCursor>;

function createCursor(file: number, end: number) {
  const buffer = Buffer.alloc(BUFFER_BYTES);
  let start = 0;
  let length = 0;
  let at = 0;
  const skip = (bytes: number) => {
    at += bytes;
    if (at > end) throw new RangeError('the header leads beyond the end');
  };
  /** The place of the next bytes in the buffer. */
  const take = (bytes: number): number => {
    const from = at;
    skip(bytes);
    if (from < start || at > start + length) {
      start = from;
      length = readSync(file, buffer, 0, BUFFER_BYTES, from);
      if (length < bytes) throw new RangeError('the file is shorter than it was');
    }
    return from - start;
  };
  return {
    skip,
    uint32: () => buffer.readUInt32LE(take(4)),
    /** A number too large to be exact is beyond every end. */
    uint64: () => Number(buffer.readBigUInt64LE(take(8))),
  };
}

function walk(cursor: Cursor): void {
  cursor.skip(4);
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) throw new RangeError('the format has another version');
  const tensors = cursor.uint64();
  const entries = cursor.uint64();
  if (tensors > MAX_ENTRIES || entries > MAX_ENTRIES) throw new RangeError('the header has too many entries');
  const budget = { items: MAX_ITEMS };
  for (let entry = 0; entry < entries; entry += 1) {
    cursor.skip(cursor.uint64());
    skipValue(cursor, cursor.uint32(), { nesting: 0, budget });
  }
  for (let tensor = 0; tensor < tensors; tensor += 1) {
    cursor.skip(cursor.uint64());
    const dimensions = cursor.uint32();
    if (dimensions > MAX_DIMENSIONS) throw new RangeError('a tensor has too many dimensions');
    // Each dimension, the type, and where the tensor begins.
    cursor.skip(8 * dimensions + 4 + 8);
  }
}

interface Place {
  readonly nesting: number;
  /** Items that arrays may still have. */
  readonly budget: { items: number };
}

function skipValue(cursor: Cursor, type: number, place: Place): void {
  if (type === STRING) cursor.skip(cursor.uint64());
  else if (type === ARRAY) {
    if (place.nesting === MAX_NESTING) throw new RangeError('arrays are nested too deep');
    skipItems(cursor, { type: cursor.uint32(), count: cursor.uint64() }, place);
  } else cursor.skip(sizeOf(type));
}

function skipItems(
  cursor: Cursor,
  { type, count }: { readonly type: number; readonly count: number },
  { nesting, budget }: Place,
): void {
  budget.items -= count;
  if (budget.items < 0) throw new RangeError('the arrays of the header have too many items');
  const place = { nesting: nesting + 1, budget };
  if (type === STRING || type === ARRAY)
    for (let item = 0; item < count; item += 1) skipValue(cursor, type, place);
  else cursor.skip(count * sizeOf(type));
}

function sizeOf(type: number): number {
  const size = SIZES[type] ?? null;
  if (size === null) throw new RangeError('a value has an unknown type');
  return size;
}
