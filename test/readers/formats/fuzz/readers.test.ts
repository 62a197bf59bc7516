import { expect, test } from '@jest/globals';
import { FAILURE_CODES } from '../../../../src/shared/errors.js';
import { endOf, mutants, mutationCount } from '../../../support/fuzz/fuzz.js';
import { FORMATS, NATIVE, seedsOf } from '../../../support/fuzz/seeds.js';
import { processorTimeOf } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** Milliseconds of the processor that no mutation of a small file takes. */
const MAX_MILLISECONDS = 5_000;
const count = mutationCount(25);
const ENDS: ReadonlySet<string> = new Set(['read', ...FAILURE_CODES]);

process.stdout.write(`fuzzing: ${String(count)} mutations of each format\n`);

test.each(FORMATS.filter((format) => !NATIVE.has(format)))(
  'mutations of %s files end with text or a code, in time',
  async (format) => {
    const [canary] = seedsOf(format);
    const before = await readBlocks(format, canary?.bytes ?? '');
    const ends: Record<string, number> = {};
    const failures: string[] = [];
    let longest = 0;
    for (const { name, bytes } of mutants(format, count)) {
      if (process.env['QUIRE_FUZZ_TRACE']) process.stderr.write(`${name}\n`);
      let end = '';
      const took = await processorTimeOf(async () => {
        end = await endOf(() => readBlocks(format, bytes));
      });
      longest = Math.max(longest, took);
      if (!ENDS.has(end)) failures.push(`${name}: ${end}`);
      if (took > MAX_MILLISECONDS) failures.push(`${name}: ${took.toFixed(0)} ms`);
      ends[end] = (ends[end] ?? 0) + 1;
    }
    process.stdout.write(`${format}: ${JSON.stringify(ends)}, at most ${longest.toFixed(0)} ms\n`);
    expect(failures).toEqual([]);
    expect(await readBlocks(format, canary?.bytes ?? '')).toEqual(before);
    expect(before.text.trim()).not.toBe('');
  },
);
