import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { warnOfMissingLanguages } from '../../../../src/readers/formats/ocr/languages.js';
import { errorRate, flat, scanLines, toPdf } from '../../../support/scans.js';

const GERMAN = [
  'Der Axolotl ist ein mexikanischer Schwanzlurch, der natürlich nur im',
  'Wasser lebt. Größere Tiere können über dreißig Zentimeter lang werden.',
  'Während fast alle Lurche an Land gehen, bleiben sie im Larvenstadium.',
  'Übliche Färbungen: weiß, grau und goldgelb. Äußere Büschelkiemen ragen',
  'hinter dem Kopf hervor. Für Züchter gelten in Österreich Maßstäbe.',
];

async function recognize(pdf: Buffer, languages: string): Promise<{ text: string; gaps: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'quire-german-'));
  try {
    const path = join(folder, 'scan.pdf');
    await writeFile(path, pdf);
    const script = join(process.cwd(), 'test', 'support', 'recognize-file.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [script, path, languages]);
    return z.object({ text: z.string(), gaps: z.int() }).parse(JSON.parse(stdout));
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('text recognition in German', () => {
  test.each([150, 300])('reads umlauts of a scan of %d dots to the inch', async (dpi) => {
    const pdf = toPdf([await scanLines(dpi, GERMAN)]);
    const truth = GERMAN.join(' ');
    const rates: Record<string, number> = {};
    for (const languages of ['deu', 'deu+eng', 'eng']) {
      const { text, gaps } = await recognize(pdf, languages);
      expect(gaps).toBe(0);
      rates[languages] = errorRate(truth, flat(text));
    }
    process.stdout.write(`character error rates of German at ${String(dpi)} dpi: ${JSON.stringify(rates)}\n`);
    expect(rates['deu']).toBeLessThan(0.02);
    expect(rates['deu+eng']).toBeLessThan(0.03);
    expect(rates['eng']).toBeGreaterThan(0.03);
  });
});

test('a language without data is named at the start', () => {
  const warnings: unknown[] = [];
  const logger = { warn: (...warning: unknown[]) => void warnings.push(warning) };
  warnOfMissingLanguages(['eng'], logger);
  expect(warnings).toEqual([]);
  warnOfMissingLanguages(['eng', 'xyz', 'tlh'], logger);
  expect(warnings).toEqual([
    [
      { missing: ['xyz', 'tlh'] },
      'text recognition has no data of some languages: npm install @tesseract.js-data/xyz @tesseract.js-data/tlh',
    ],
  ]);
});
