import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { ReadError } from '../../../src/readers/index.js';
import { IngestError } from '../../../src/shared/errors.js';
import { mutate } from './mutate.js';
import { createRandom } from './random.js';
import { seedsOf } from './seeds.js';

/** The number of mutations of each format that are tried; `QUIRE_FUZZ_FROM` is the number of the first. */
export function mutationCount(usual: number): number {
  return Number(process.env['QUIRE_FUZZ'] ?? usual);
}
const first = Number(process.env['QUIRE_FUZZ_FROM'] ?? 1);

export interface Mutant {
  /** Names the format, the file and the number, which make the same file again. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Mutations of the files of a format, each file in turn. The same number gives the same file. */
export function* mutants(format: FileFormat, count: number): Iterable<Mutant> {
  const seeds = seedsOf(format);
  for (let number = first; number < first + count; number += 1) {
    const seed = seeds[number % seeds.length];
    if (seed) {
      const random = createRandom(number);
      yield { name: `${format} ${String(number)} (${seed.name})`, bytes: mutate(seed.bytes, random) };
    }
  }
}

/** The end of a file: `read`, the code of the error of a reader or of the pool, or an error that should never be thrown. */
export async function endOf(read: () => Promise<unknown>): Promise<string> {
  try {
    await read();
    return 'read';
  } catch (error) {
    if (error instanceof ReadError || error instanceof IngestError) return error.code;
    return error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : 'unknown';
  }
}
