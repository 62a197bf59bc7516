import { describe, expect, test } from '@jest/globals';
import { DETECTION_BYTES, detectFileType } from '../../../../src/shared/documents/file-types/detect.js';
import { IngestError } from '../../../../src/shared/errors.js';
import { folded, sampleFiles } from '../../../support/sample-files.js';
import { useParsers } from '../../../support/use-parsers.js';

const samples = sampleFiles();
/** What text recognition reads in files that hold nothing but pictures. */
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
    const end = await pool.parse({ path, format: type.format }).then(
      ({ chunks }) => ({ chunks, code: undefined }),
      (error: unknown) => {
        if (!(error instanceof IngestError)) throw error;
        return { chunks: undefined, code: error.code };
      },
    );
    const text = folded((end.chunks ?? []).map((chunk) => chunk.text.slice(chunk.overlap)).join(''));
    const recognized = RECOGNIZED[file];
    if (recognized !== undefined) expect(text).toContain(folded(recognized));
    else if (expected.startsWith('fail:')) expect(expected.slice(5).split(',')).toContain(end.code);
    if (expected === 'found' || expected === 'done') {
      expect(end.code).toBeUndefined();
      expect(text).toContain(folded(phrase));
    }
  });

  test('are of most formats that are read', () => {
    const formats = samples.map(
      ({ file, read }) => detectFileType(read().subarray(0, DETECTION_BYTES), file, null)?.format,
    );
    for (const format of FORMATS) expect(formats).toContain(format);
  });
});
