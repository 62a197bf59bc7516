import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../../src/readers/detection/formats.js';
import { FAILURE_CODES } from '../../../../src/shared/errors.js';
import { endOf, mutants, mutationCount } from '../../../support/fuzz/fuzz.js';
import { FORMATS, NATIVE } from '../../../support/fuzz/seeds.js';
import { TEXTS } from '../../../support/fuzz/texts.js';
import { drawPdf, line } from '../../../support/drawn-pdf.js';
import { useParsers } from '../../../support/use-parsers.js';

const count = mutationCount(4);
const ENDS: ReadonlySet<string> = new Set(['read', ...FAILURE_CODES]);

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-fuzz-'));
  process.stdout.write(`fuzzing of compiled code: ${String(count)} mutations of each format\n`);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('the parser pool', () => {
  const pool = useParsers({ size: 1, timeoutMilliseconds: 20_000, maxChunks: 20_000 });
  let files = 0;
  const parse = async (bytes: Uint8Array, format: FileFormat) => {
    const path = join(directory, String((files += 1)));
    await writeFile(path, bytes);
    try {
      return await pool.parse({ path, format });
    } finally {
      await rm(path, { force: true });
    }
  };
  const canary = drawPdf({ pages: [{ content: line(60, 700, 'canary') }] });

  test.each(FORMATS.filter((format) => NATIVE.has(format)))(
    'ends mutations of %s files with text or a code, and reads what comes after them',
    async (format) => {
      const ends: Record<string, number> = {};
      const failures: string[] = [];
      let longest = 0;
      for (const { name, bytes } of mutants(format, count)) {
        const started = performance.now();
        const end = await endOf(() => parse(bytes, format));
        const took = performance.now() - started;
        longest = Math.max(longest, took);
        if (!ENDS.has(end)) failures.push(`${name}: ${end}`);
        if (end === 'timeout') failures.push(`${name}: ${took.toFixed(0)} ms`);
        ends[end] = (ends[end] ?? 0) + 1;
        const later = await endOf(() => parse(Buffer.from(TEXTS.text), 'text'));
        if (later !== 'read') failures.push(`${name}: a later text was lost: ${later}`);
      }
      process.stdout.write(`${format}: ${JSON.stringify(ends)}, at most ${longest.toFixed(0)} ms\n`);
      expect(failures).toEqual([]);
      expect((await parse(canary, 'pdf')).chunks[0]?.text.trim()).toBe('canary');
    },
    3_600_000,
  );
});
