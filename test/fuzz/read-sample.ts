import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { importCompiled } from '../../bench/support/import-compiled.js';
import type * as Detect from '../../src/readers/detection/detect.js';
import type * as Errors from '../../src/shared/errors.js';
import type * as Options from '../../src/readers/read-options.js';
import type * as Parse from '../../src/workers/parse/parse-and-chunk.js';

// @NOTE The casts say which source each compiled file is made of.
const { detectFileType, DETECTION_BYTES } = (await importCompiled(
  'readers/detection/detect.js',
)) as typeof Detect;
const { IngestError } = (await importCompiled('shared/errors.js')) as typeof Errors;
const { DEFAULT_READ_OPTIONS } = (await importCompiled('readers/read-options.js')) as typeof Options;
const { parseAndChunk } = (await importCompiled('workers/parse/parse-and-chunk.js')) as typeof Parse;

/** As the service has it by default, and small enough that most documents are several chunks. */
const CHUNK = { size: 256, overlap: 0 };

interface ReadSample {
  readonly text: string;
  /** The reason why it was not read; null where it was. */
  readonly failure: string | null;
  /** The gaps that the receipt names. */
  readonly gaps: readonly string[];
}

/** Reads a file as a worker does, by its content and its name. */
export async function readSample(path: string): Promise<ReadSample> {
  const filename = basename(path);
  const type = detectFileType(readFileSync(path).subarray(0, DETECTION_BYTES), filename, null);
  if (type === null) return { text: '', failure: 'its format is not known', gaps: [] };
  try {
    const options = { ...DEFAULT_READ_OPTIONS, ocr: 'off' as const };
    const task = { format: type.format, filename, source: { path }, options, chunk: CHUNK };
    const { chunks, receipt } = await parseAndChunk(task);
    return {
      text: chunks.map(({ text, overlap }) => text.slice(overlap)).join(''),
      failure: null,
      gaps: receipt.gaps.map(({ reason, detail }) => `${reason}: ${detail}`),
    };
  } catch (error) {
    if (!(error instanceof IngestError)) throw error;
    return { text: '', failure: `${error.code}: ${error.message}`, gaps: [] };
  }
}
