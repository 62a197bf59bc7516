import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { under } from './report.js';
import { runSource } from './run.js';
import { SOURCES } from './sources.js';

/** The quick sources. LibreOffice's take seconds each to start: `npm run fuzz:readers` has them, and more documents. */
const QUICK = SOURCES.filter(({ conversions }) => conversions === undefined);
const folder = mkdtempSync(join(tmpdir(), 'quire-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('documents that other libraries write at random', () => {
  test.each(QUICK.map((source) => [source.name, source] as const))(
    'are read as they were written: %s',
    async (name, source) => {
      const result = await runSource(source, { seed: 7, documents: 4, folder });
      if (result.skipped !== null) console.warn(`skipped: ${name}: ${result.skipped}`);
      const complaints = result.failures.flatMap((failure) => failure.complaints);
      expect({ under: under(result), complaints: under(result) === null ? [] : complaints }).toEqual({
        under: null,
        complaints: [],
      });
    },
  );
});
