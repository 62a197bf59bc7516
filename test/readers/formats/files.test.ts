import { describe, expect, test } from '@jest/globals';
import { DETECTION_BYTES, detectFileType } from '../../../src/readers/detection/detect.js';
import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { IngestError } from '../../../src/shared/errors.js';
import type { Location } from '../../../src/readers/blocks/location.js';
import { folded, sampleFiles, type SampleFile } from '../../support/sample-files.js';
import { PHRASE_PLACES, PROMISED_PLACES } from '../../support/sample-places.js';
import { useParsers } from '../../support/use-parsers.js';

const samples = sampleFiles();
/** The text that recognition reads in files that hold nothing but pictures. */
const RECOGNIZED: Readonly<Record<string, string>> = { 'tika__testOCR.pdf': 'Happy New Year 2003' };
/** Formats that the samples must show. */
const FORMATS = 'text markdown html csv xml rtf eml mbox msg pdf docx pptx xlsx odt ods odp epub'.split(' ');
/** Files that are refused with 415. */
const REFUSED = /\.(?:doc|xls|ppt|zip)$/;

(samples.length > 0 ? describe : describe.skip)('the sample files', () => {
  const pool = useParsers({ size: 2, timeoutMilliseconds: 60_000, maxChunks: 20_000 });

  test.each(samples)('$file: $expected', async ({ file, path, phrase, expected, read }) => {
    const type = detectFileType(read().subarray(0, DETECTION_BYTES), file, null);
    if (!type) {
      expect(file).toMatch(REFUSED);
      return;
    }
    const { chunks, code } = await pool.parse({ path, format: type.format }).then(
      (read) => ({ chunks: read.chunks, code: undefined }),
      (error: unknown) => {
        if (!(error instanceof IngestError)) throw error;
        return { chunks: [], code: error.code };
      },
    );
    const text = folded(chunks.map((chunk) => chunk.text.slice(chunk.overlap)).join(''));
    const recognized = RECOGNIZED[file];
    if (recognized !== undefined) expect(text).toContain(folded(recognized));
    else if (expected.startsWith('fail:')) expect(expected.slice(5).split(',')).toContain(code);
    if (expected === 'found' || expected === 'done') {
      expect(code).toBeUndefined();
      expect(text).toContain(folded(phrase));
    }
    for (const { location } of chunks) expectPlacesOf(type.format, location);
    if (expected === 'found') expectPlacesOfPhrase({ file, phrase }, type.format, chunks);
  });

  test('are of most formats that are read', () => {
    const formats = samples.map(
      ({ file, read }) => detectFileType(read().subarray(0, DETECTION_BYTES), file, null)?.format,
    );
    for (const format of FORMATS) expect(formats).toContain(format);
  });
});

interface FoundChunk {
  readonly text: string;
  readonly location?: Location | null | undefined;
}

/** A location says what its format promises, and nothing else; text in pictures and text boxes may say less. */
function expectPlacesOf(format: FileFormat, location: FoundChunk['location']): void {
  const promised = PROMISED_PLACES[format];
  const kinds = Object.keys(location ?? {});
  expect(promised).toEqual(expect.arrayContaining(kinds));
  expect(kinds).toEqual(expect.arrayContaining(promised.slice(0, 1)));
}

/** Chunks with the phrase say all that the format promises, and the numbers at which the phrase stands in the file. */
function expectPlacesOfPhrase(
  { file, phrase }: Pick<SampleFile, 'file' | 'phrase'>,
  format: FileFormat,
  chunks: readonly FoundChunk[],
): void {
  const found = chunks.filter(({ text }) => folded(text).includes(folded(phrase)));
  expect(found).not.toHaveLength(0);
  const promised = PROMISED_PLACES[format];
  const places = PHRASE_PLACES[file];
  if (places) expect(Object.keys(places)).toEqual(promised.filter((kind) => kind !== 'boxes'));
  for (const kind of promised) {
    for (const { location } of found) expect(location).toHaveProperty(kind);
    const expected = places?.[kind];
    if (!expected) continue;
    for (const { location } of found)
      expect(expected.some((place) => covers(location, kind, place))).toBe(true);
    for (const place of expected)
      expect(found.some(({ location }) => covers(location, kind, place))).toBe(true);
  }
}

function covers(location: FoundChunk['location'], kind: keyof Location, place: string | number): boolean {
  const value = location?.[kind];
  if (typeof value === 'object' && 'first' in value)
    return typeof place === 'number' && value.first <= place && place <= value.last;
  return value === place;
}
